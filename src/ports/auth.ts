/** Authentication and authorization: who calls, and for whom. */
import type { AgentName, Fault, Scope, SecurityScheme } from "../model/index.ts";
import type { Caller, Permission } from "./caller.ts";
import type { Operation } from "./operation.ts";

export interface Authenticator {
  /** What cards tell about it; any one of them is enough. Empty: nobody is asked. */
  readonly schemes: readonly SecurityScheme[];
  /**
   * By what comes with a call beside its words. undefined: the caller says nothing about himself; a
   * Fault("unauthenticated"): what he says is not good.
   */
  authenticate(caller: Caller): Principal | undefined | Promise<Principal | undefined>;
  /** Whether this agent, or else any, may be for those who say nothing about themselves. */
  allowsAnonymous(agent: string | undefined): boolean;
  /** A Fault("unauthenticated") if nothing is known of the caller. */
  requirePrincipal(principal: Principal | undefined): Principal;
  /** A Fault("unauthenticated") if what the principal was known by is no longer good. */
  checkPrincipal(principal: Principal): void | Promise<void>;
  /** The only way to obtain a Scope. */
  authorize(principal: Principal | undefined, operation: Operation): Scope;
  /** Calls `lapsed` when what the principal was known by is no longer good, until the returned function is called. */
  onExpire(principal: Principal, lapsed: (fault: Fault) => void): () => void;
}
/** Whoever calls; a stranger has no principal. */
export interface Authenticated {
  readonly principal: Principal | undefined;
}
export interface Principal {
  readonly subject: string;
  readonly tenants: readonly string[];
  readonly grants: readonly Permission[];
  /** See `Scope`. */
  readonly agents: ReadonlySet<AgentName> | undefined;
  /** Whether what it was known by is still good. */
  isValid(): boolean | Promise<boolean>;
}
