import type { Permission } from "../model/index.ts";
import type { Operation } from "../ports/index.ts";

/** What a caller must be allowed to do; undefined: to be known is enough. */
const NEEDED: Readonly<Record<Operation["op"], Permission | undefined>> = {
  send: "send",
  stream: "send",
  get: "read",
  list: "read",
  subscribe: "read",
  cancel: "cancel",
  "push-set": "push",
  "push-get": "read",
  "push-list": "read",
  "push-delete": "push",
  "extended-card": undefined,
  card: undefined,
  agents: undefined,
};

/** The first grant that an operation needs and that is not there. */
export function missingGrant(operation: Operation, grants: readonly Permission[]): Permission | undefined {
  const needed = NEEDED[operation.op];
  if (needed !== undefined && !grants.includes(needed)) return needed;
  return hasPush(operation) && !grants.includes("push") ? "push" : undefined;
}

/** Deliveries can be asked for with a message, too. */
const hasPush = (operation: Operation): boolean =>
  (operation.op === "send" || operation.op === "stream") && operation.send.push !== undefined;

/** What tells who is here, and for whom: nobody needs to be known to read it. */
export const isPublic = ({ op }: Operation): boolean => op === "card" || op === "agents";

/**
 * What callers may do who need not say who they are. All of them are one caller: a list would show each what the others
 * do, and deliveries would go to whoever asks.
 */
const FOR_STRANGERS: ReadonlySet<Operation["op"]> = new Set<Operation["op"]>([
  "send",
  "stream",
  "get",
  "subscribe",
  "cancel",
]);
export const isForStrangers = (operation: Operation): boolean =>
  FOR_STRANGERS.has(operation.op) && !hasPush(operation);
