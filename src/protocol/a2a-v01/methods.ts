import { SHARED } from "../shared/kind-methods.ts";
import type { Methods } from "../shared/methods.ts";
import { readMissed } from "../shared/read.ts";
import { createPushMethods } from "../shared/type-push.ts";
import { readPush, readSend } from "./decode.ts";

/** What no later version has: these are calls of v0.1 whatever version they name. */
const OWN = {
  "tasks/send": call => ({ op: "send", ...readSend(call), until: "settled" }),
  // A task that waits for credentials is input-required here, and there its streams end.
  "tasks/sendSubscribe": call => ({
    op: "stream",
    ...readSend(call),
    until: "settled",
    ...readMissed(call),
  }),
  ...createPushMethods(readPush),
} satisfies Methods;

/** v0.1 §7: every method, and what it asks for. */
export const METHODS: Methods = { ...OWN, ...SHARED };

export const isOwn = (method: string): boolean => Object.hasOwn(OWN, method);
