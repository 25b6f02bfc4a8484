import type { JsonObject } from "../lib/json.ts";

/** Authentication and authorization by functions of the operator, as the `Auth` of LangGraph's SDK has them. */
export interface CustomAuth {
  /** Returns the user, or its identity; throws to refuse the call. */
  readonly authenticate: (request: Request) => unknown;
  /** By event: `threads:create`, `threads`, `*:create`, `*`. */
  readonly handlers: Readonly<Record<string, AskAuthorization>>;
}
/** Returns nothing or true (allowed), false (refused), or a filter of the metadata of what may be touched. */
export type AskAuthorization = (call: CustomAuthCall) => unknown;
export interface CustomAuthCall {
  /** `threads:create` */
  readonly event: string;
  readonly resource: string;
  readonly action: string;
  /** The handler may change it. */
  readonly value: Record<string, unknown>;
  readonly permissions: readonly string[];
  readonly user: CustomUser;
}
/** The user that `authenticate` returned, with all its members. */
export interface CustomUser extends JsonObject {
  readonly identity: string;
  readonly permissions: readonly string[];
  readonly display_name: string;
  readonly is_authenticated: boolean;
}
