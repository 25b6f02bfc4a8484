import type { JsonObject } from "../lib/json.ts";
import type { AgentName, Credential, CredentialRequest, Scope, TaskId } from "../model/index.ts";

/** Credentials that callers gave to agents, so that the agents can act for them elsewhere. */
export interface CallerCredentials {
  /** undefined: none were given, or they have expired. An Error: they cannot be refreshed just now. */
  get(owner: CredentialOwner, name: string): Promise<Credential | undefined>;
  save(owner: CredentialOwner, request: CredentialRequest, given: JsonObject): Promise<void>;
  /** How a caller can give the credentials that an agent asks for. */
  authorizationOptions(
    owner: CredentialOwner,
    taskId: TaskId,
    request: AuthorizationRequest,
  ): AuthorizationOptions;
}
/** The caller that gave them, and the agent that may use them. */
export interface CredentialOwner {
  readonly scope: Scope;
  readonly agent: AgentName;
}
export interface AuthorizationRequest {
  readonly name: string;
  readonly scopes: readonly string[];
  /** The agent's message that asks. */
  readonly messageId: string;
}
export interface AuthorizationOptions {
  /** The page for a person; undefined: no OAuth provider has this name. */
  readonly url?: string;
  /** Where a program posts them; undefined: the server does not know its own public URL. */
  readonly endpoint?: string;
}
