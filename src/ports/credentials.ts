import type { JsonObject } from "../lib/json.ts";
import type { AgentName, Credential, CredentialRequest, Scope, TaskId } from "../model/index.ts";

/** What callers gave to agents, so that these can act for them elsewhere. */
export interface Credentials {
  /** undefined: nothing was given, or it no longer holds. An Error: it cannot be renewed just now. */
  get(owner: CredentialOwner, name: string): Promise<Credential | undefined>;
  save(owner: CredentialOwner, ask: CredentialRequest, given: JsonObject): Promise<void>;
  /** How a caller can give what an agent asks for. */
  authorizationOptions(
    owner: CredentialOwner,
    taskId: TaskId,
    wish: AuthorizationRequest,
  ): AuthorizationOptions;
}
/** Whose they are, and who may use them. */
export interface CredentialOwner {
  readonly scope: Scope;
  readonly agent: AgentName;
}
/** What an agent asks for. */
export interface AuthorizationRequest {
  readonly name: string;
  readonly scopes: readonly string[];
  /** The message that asks. */
  readonly messageId: string;
}
export interface AuthorizationOptions {
  /** A page for a person; undefined: there is none for this name. */
  readonly url?: string;
  /** Where a program posts it; undefined: nothing is known that callers could reach. */
  readonly endpoint?: string;
}
