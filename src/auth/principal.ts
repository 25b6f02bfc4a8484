import type { AgentName, Identity } from "../model/index.ts";
import type { Principal } from "../ports/index.ts";

export const toPrincipal = (identity: Identity, isValid: Principal["isValid"]): Principal => ({
  subject: identity.principal,
  tenants: identity.tenants,
  grants: identity.grants,
  agents: identity.agents && new Set(identity.agents as readonly AgentName[]),
  isValid,
});
