import { Fault } from "../model/index.ts";
import type { Authenticator, Endpoint } from "../ports/index.ts";

/** The same for those who may do what is below /admin, and for nobody else. */
export const onlyAdmin = (own: Endpoint, guard: Authenticator): Endpoint => ({
  ...own,
  async serve(call) {
    const { grants } = guard.requirePrincipal(await guard.authenticate(call));
    if (!grants.includes("admin")) throw new Fault("forbidden", "This is for administrators only");
    return own.serve(call);
  },
});
