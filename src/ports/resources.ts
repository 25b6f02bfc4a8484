import type { JsonObject } from "../lib/json.ts";
import type { Scope } from "../model/index.ts";

/** Records of callers beside their tasks: contexts with their metadata, assistants. Each belongs to one caller. */
export interface Resources {
  find(scope: Scope, kind: ResourceKind, id: string): Promise<Resource | null>;
  /**
   * Creates or replaces a record; resolves when it is committed. `expected`: "absent", or the revision that was read;
   * Fault("conflict") if it is another one by now.
   */
  put(
    scope: Scope,
    kind: ResourceKind,
    resource: NewResource,
    expected: "absent" | number,
  ): Promise<Resource>;
  /** false: it was not there. */
  remove(scope: Scope, kind: ResourceKind, id: string): Promise<boolean>;
  list(scope: Scope, kind: ResourceKind, range: ResourceRange): Promise<readonly Resource[]>;
  /** Records of all callers whose time has come, the oldest first. */
  expired(kind: ResourceKind, at: number, max: number): Promise<readonly OwnedResource[]>;
}

export type ResourceKind = "context" | "assistant" | "cron";

export interface NewResource {
  readonly id: string;
  /** In milliseconds, as all times here. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** In wall time; undefined: it does not expire. */
  readonly expiresAt?: number | undefined;
  readonly value: JsonObject;
}
export interface Resource extends NewResource {
  /** 1 for a new record, one more for each change. */
  readonly rev: number;
}
export interface OwnedResource extends Resource {
  readonly scope: Scope;
}
/** By time and id, in this direction. */
export interface ResourceRange {
  readonly by: "createdAt" | "updatedAt";
  readonly backwards: boolean;
  /** Records beyond this one. */
  readonly beyond?: { readonly at: number; readonly id: string };
  readonly max: number;
}
