import type { AgentName, Scope } from "../model/index.ts";

/** The only constructor of scopes: a store call without a scope does not compile. */
export function toScope(tenant: string, principal: string, agents?: ReadonlySet<AgentName>): Scope {
  return (agents ? { tenant, principal, agents } : { tenant, principal }) as Scope;
}

/** The scope of the calls that an agent makes for its caller. */
export const toAgentScope = (scope: Scope): Scope => ({ ...scope, fromAgent: true });
