import type { Guard, Principal } from "../ports.ts";
import { toScope } from "./scope.ts";

/** Everybody is the same caller: for a server on loopback, where whoever can connect is the one who started it. */
export function createAnonymousGuard(): Guard {
  const principal: Principal = {
    subject: "anonymous",
    tenants: ["default"],
    grants: ["send", "read", "cancel", "push", "admin"],
  };
  const scope = toScope("default", principal.subject);
  return {
    schemes: [],
    identify: () => principal,
    admit: () => scope,
  };
}
