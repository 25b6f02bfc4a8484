import type { PushSubscription, UsageRow } from "../../ports/index.ts";
import type { ItemRow } from "./item-row.ts";
import type { ResourceRow } from "./resource-row.ts";
import type { ScheduleRow } from "./schedule-row.ts";

/** The content of a store, to be imported into another store. */
export interface StoreExport {
  readonly counts: { readonly tasks: number };
  /** In order of creation. */
  tasks(): Iterable<ExportedTask>;
  resources(): Iterable<ResourceRow>;
  storage(): Iterable<ExportedStorage>;
  items(): Iterable<ExportedItem>;
  schedules(): Iterable<ExportedSchedule>;
  usage(): readonly UsageRow[];
  tokens(): readonly ExportedToken[];
  close(): void;
}

/** Members with underscores are columns of the table `task`. */
export interface ExportedTask {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly id: string;
  readonly context_id: string;
  readonly state: number;
  readonly rev: number;
  readonly status_at: number;
  readonly hidden: boolean;
  /** null: the task does not wait for other tasks of its context. */
  readonly arrived: number | null;
  readonly snapshot_seq: number;
  readonly snapshot: string | null;
  readonly since: number;
  readonly alias: string | null;
  readonly segments: readonly {
    readonly last: number;
    readonly rev: number | null;
    readonly events: string;
  }[];
  readonly names: readonly {
    readonly kind: number;
    readonly name: string;
    readonly seq: number;
    readonly digest: string | null;
  }[];
  readonly pushes: readonly PushSubscription[];
}

export interface ExportedItem extends ItemRow {
  readonly tenant: string;
  readonly principal: string;
  readonly ttl_ms: number | null;
}

export interface ExportedSchedule extends ScheduleRow {
  readonly tenant: string;
  readonly principal: string;
}

/** A row of the table `shelf`, with its owner. */
export interface ExportedStorage {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly shelf: string;
  readonly key: string;
  readonly value: string;
}

/** A row of the table `token`, without its hash. */
export interface TokenRow {
  readonly id: string;
  readonly name: string | null;
  readonly principal: string;
  readonly tenants: string;
  readonly grants: string;
  readonly agents: string | null;
  readonly created: number;
  readonly expires: number | null;
  readonly revoked: number | null;
  readonly used: number | null;
}

export interface ExportedToken extends TokenRow {
  readonly hash: string;
}
