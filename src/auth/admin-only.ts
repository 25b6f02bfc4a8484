import { Fault } from "../model/index.ts";
import type { Authenticator, Endpoint } from "../ports/index.ts";

/** The endpoint for callers with the permission "admin" only. */
export const adminOnly = (endpoint: Endpoint, auth: Authenticator): Endpoint => ({
  ...endpoint,
  async serve(call) {
    const { grants } = auth.requirePrincipal(await auth.authenticate(call));
    if (!grants.includes("admin")) throw new Fault("forbidden", "The permission admin is required");
    return endpoint.serve(call);
  },
});
