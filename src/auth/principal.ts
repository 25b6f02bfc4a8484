import type { AgentName, Identity } from "../model/index.ts";
import type { Principal } from "../ports/index.ts";

/** `isGood`: whether the credentials still are. */
export const toPrincipal = (badge: Identity, isGood: Principal["isValid"]): Principal => ({
  subject: badge.principal,
  tenants: badge.tenants,
  grants: badge.grants,
  agents: badge.agents && new Set(badge.agents as readonly AgentName[]),
  isValid: isGood,
});
