import type { AgentName, Scope, Usage } from "../model/index.ts";

/** The usage that agents report (`ctx.usage`), added up in the same commit as its events. */
export interface UsageStore {
  /** On one day, by this caller and by all callers of the tenant. */
  spent(scope: Scope, day: number): Promise<{ readonly caller: Usage; readonly tenant: Usage }>;
  /** For operators: all callers. */
  report(query: UsageQuery): Promise<readonly UsageRow[]>;
}
/** Days since 1970-01-01, UTC; both inclusive. */
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
