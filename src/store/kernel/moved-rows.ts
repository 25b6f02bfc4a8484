import type { PushSubscription, UsageRow } from "../../ports/index.ts";

/** All that a store keeps, on its way into another one. */
export interface MovedStore {
  readonly counts: { readonly tasks: number };
  /** In the order in which they were made. */
  tasks(): Iterable<MovedTask>;
  shelves(): Iterable<MovedShelved>;
  usage(): readonly UsageRow[];
  tokens(): readonly MovedToken[];
  close(): void;
}

export interface MovedTask {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly id: string;
  readonly context_id: string;
  readonly state: number;
  readonly rev: number;
  readonly status_at: number;
  readonly hidden: boolean;
  /** null: it waits for no other task of its context. */
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
  readonly deliveries: readonly PushSubscription[];
}

export interface MovedShelved {
  readonly tenant: string;
  readonly principal: string;
  readonly agent: string;
  readonly shelf: string;
  readonly key: string;
  readonly value: string;
}

/** A token as databases keep it, without its hash. */
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

export interface MovedToken extends TokenRow {
  readonly hash: string;
}
