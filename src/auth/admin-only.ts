import { Fault } from "../model/index.ts";
import type { Guard, Own } from "../ports/index.ts";

/** The same for those who may do what is below /admin, and for nobody else. */
export const onlyAdmin = (own: Own, guard: Guard): Own => ({
  ...own,
  async serve(call) {
    const { grants } = guard.need(await guard.identify(call));
    if (!grants.includes("admin")) throw new Fault("forbidden", "This is for administrators only");
    return own.serve(call);
  },
});
