/** The JSON of the admin API about the server: figures, configuration, tokens, documents. */
import type { Json } from "../lib/json.ts";
import type { Permission } from "../model/index.ts";
import type { TaskCounts } from "./api.ts";

/** GET /server; operators only, like all below /server. */
export interface ServerInfo {
  readonly node: string;
  readonly version: string;
  readonly nodeVersion: string;
  readonly startedAt: number;
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, string>>;
  readonly store: { readonly kind: "memory" | "sqlite" | "postgres"; readonly bytes: number };
  readonly nodes: readonly NodeRow[];
  /** This node now. */
  readonly current: Figures;
  /** This node since its start. */
  readonly totals: {
    readonly calls: number;
    readonly callsByDialect: Readonly<Record<string, number>>;
    readonly callsByOperation: Readonly<Record<string, number>>;
    readonly faults: Readonly<Record<string, number>>;
    readonly deliveries: { readonly taken: number; readonly failed: number; readonly givenUp: number };
  };
  readonly tasks: TaskCounts;
}
export interface NodeRow {
  readonly id: string;
  readonly isThis: boolean;
  readonly version: string;
  readonly startedAt: number;
  readonly seenAt: number;
}
/** Values of one node, over the time since the sample before. */
export interface Figures {
  readonly at: number;
  readonly calls: number;
  readonly faults: number;
  readonly callMs: Percentiles;
  readonly firstEventMs: Percentiles;
  readonly streams: number;
  readonly runs: number;
  readonly queue: number;
  readonly events: number;
  readonly commits: number;
  readonly commitMs: Percentiles;
  readonly deliveriesTaken: number;
  readonly deliveriesFailed: number;
  readonly storeBytes: number;
  readonly memoryBytes: number;
}
/** From the buckets of a histogram: approximate; null: nothing was measured. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}
/** GET /server/figures */
export interface FiguresPage {
  readonly node: string;
  readonly stepMs: number;
  readonly samples: readonly Figures[];
}
/** GET /server/config: `{ options: OptionRow[] }` */
export interface OptionRow {
  readonly name: string;
  readonly help: string;
  /** null: not set; secrets are "•••" if they are set. */
  readonly value: Json;
  readonly isDefault: boolean;
}
/** GET /server/limits: `{ limits: LimitRow[] }` */
export interface LimitRow {
  readonly name: string;
  readonly value: number;
  /** The current value, where it is known. */
  readonly used: number | null;
}

/** GET /tokens: `{ tokens: TokenInfo[], nextPageToken }`; administrators only. */
export interface TokenInfo {
  readonly id: string;
  readonly name: string | null;
  readonly principal: string;
  readonly tenants: readonly string[];
  /** null: all. */
  readonly agents: readonly string[] | null;
  readonly permissions: readonly Permission[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly usedAt: number | null;
}

/** GET /docs: `{ pages: DocPage[] }` */
export interface DocPage {
  /** "guide/push.md" */
  readonly path: string;
  readonly title: string;
  /** "guide", "reference", "operate", "dialects", "decisions" */
  readonly section: string;
}
