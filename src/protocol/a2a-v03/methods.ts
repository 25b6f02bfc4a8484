import { createKindMethods } from "../shared/kind-methods.ts";
import { readFilter } from "../shared/kind-read.ts";
import type { Methods } from "../shared/methods.ts";
import { readParams } from "../shared/read.ts";
import { readView } from "../shared/send.ts";

/** v0.3 §7: every method, and what it asks for. `tasks/list` is of a later draft; some clients call it. */
export const METHODS: Methods = {
  ...createKindMethods("v03"),
  "tasks/list": call => ({
    op: "list",
    filter: readFilter(readParams(call)),
    view: readView(readParams(call), ""),
  }),
  "agent/getAuthenticatedExtendedCard": call => ({ op: "extended-card", base: call.base() }),
};
