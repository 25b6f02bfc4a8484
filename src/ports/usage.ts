import type { AgentName, Scope, Usage } from "../model/index.ts";

/** What agents have spent (`ctx.usage`), added up with the events that say so. */
export interface UsageStore {
  /** On one day, by this caller and by all callers of the tenant. */
  spent(scope: Scope, day: number): Promise<{ readonly caller: Usage; readonly tenant: Usage }>;
  /** For whoever runs the server: all callers. */
  report(query: UsageQuery): Promise<readonly UsageRow[]>;
}
/** Days since 1970-01-01, UTC; both included. */
export interface UsageQuery {
  readonly from: number;
  readonly to: number;
}
export interface UsageRow {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: AgentName;
  readonly day: number;
  readonly contextId: string;
  readonly usage: Usage;
}
