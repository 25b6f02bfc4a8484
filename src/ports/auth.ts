/** Authentication and authorization. */
import type { AgentName, Fault, Scope, SecurityScheme } from "../model/index.ts";
import type { Caller, Permission } from "./caller.ts";
import type { CustomUser } from "./custom-auth.ts";
import type { Operation } from "./operation.ts";

export interface Authenticator {
  /** The security schemes that agent cards declare; any of them is enough. Empty: no authentication is required. */
  readonly schemes: readonly SecurityScheme[];
  /** By headers and certificate. undefined: the call has no credentials; a Fault("unauthenticated"): they are not valid. */
  authenticate(caller: Caller): Principal | undefined | Promise<Principal | undefined>;
  /** Whether this agent, or any agent if undefined, accepts anonymous callers. */
  allowsAnonymous(agent: string | undefined): boolean;
  /** A Fault("unauthenticated") if the caller is anonymous. */
  requirePrincipal(principal: Principal | undefined): Principal;
  /** A Fault("unauthenticated") if the principal's credentials are no longer valid. */
  checkPrincipal(principal: Principal): void | Promise<void>;
  /** The only way to obtain a Scope. */
  authorize(principal: Principal | undefined, operation: Operation): Scope;
  /** Calls `onExpired` when the principal's credentials are no longer valid, until the returned function is called. */
  onExpire(principal: Principal, onExpired: (fault: Fault) => void): () => void;
}
export interface Principal {
  readonly subject: string;
  readonly tenants: readonly string[];
  readonly grants: readonly Permission[];
  /** See `Scope`. */
  readonly agents: ReadonlySet<AgentName> | undefined;
  /** The user that a custom authentication returned. */
  readonly user?: CustomUser | undefined;
  /** Whether the credentials are still valid. */
  isValid(): boolean | Promise<boolean>;
}
