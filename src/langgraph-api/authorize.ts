/** The one place at which a call about a resource is authorized beyond the caller's permissions and scope. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { Scope } from "../model/index.ts";
import type { Principal, RequestHeaders } from "../ports/index.ts";

/** What the custom `auth` of a langgraph.json decides; `allowOwn` without one. */
export interface ResourceAuthorizer {
  /**
   * Called for every route before anything is read or written. May change `value`, which is used afterwards. Returns a
   * filter that the metadata of each touched record must match; undefined: no filter. Throws a Fault("forbidden").
   */
  authorize(call: ResourceCall): Promise<ResourceFilter | undefined>;
  /** Members that every run of this caller gets in `config.configurable`. */
  configurable(caller: ResourceCaller): JsonObject;
}

export interface ResourceCaller {
  readonly scope: Scope;
  readonly principal: Principal | undefined;
  readonly headers: RequestHeaders;
}

export type ResourceCall = ResourceAction & {
  /** The members of the call; may be changed in place. */
  readonly value: Record<string, Json>;
  readonly caller: ResourceCaller;
};

export type ResourceAction =
  | {
      readonly resource: "threads";
      readonly action: "create" | "read" | "update" | "delete" | "search" | "create_run";
    }
  | {
      readonly resource: "assistants" | "crons";
      readonly action: "create" | "read" | "update" | "delete" | "search";
    }
  | {
      readonly resource: "store";
      readonly action: "put" | "get" | "search" | "list_namespaces" | "delete";
    };

/** By member of the metadata: a value, `{ $eq: value }` or `{ $contains: value or values }`. */
export type ResourceFilter = JsonObject;

/** Records belong to the caller that created them (`Scope`), so nothing more is needed. */
export const ALLOW_OWN: ResourceAuthorizer = {
  authorize: async () => undefined,
  configurable: () => ({}),
};

export function matchesFilter(metadata: JsonObject, filter: ResourceFilter | undefined): boolean {
  return Object.entries(filter ?? {}).every(([name, rule]) => matchesRule(metadata[name], rule));
}

function matchesRule(value: Json | undefined, rule: Json): boolean {
  if (!isObject(rule)) return value === rule;
  if ("$eq" in rule) return value === rule.$eq;
  if (!("$contains" in rule)) return false;
  const wanted: readonly Json[] = Array.isArray(rule.$contains) ? rule.$contains : [rule.$contains as Json];
  return Array.isArray(value) && wanted.every(one => value.includes(one));
}
