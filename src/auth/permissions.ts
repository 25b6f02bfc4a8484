import type { Permission } from "../model/index.ts";
import type { Operation } from "../ports/index.ts";

/** The permission that an operation requires; undefined: authentication is enough. */
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
  "read-resource": "read",
  "write-resource": "send",
};

/** The first required permission that the caller does not have. */
export function missingPermission(
  operation: Operation,
  grants: readonly Permission[],
): Permission | undefined {
  const needed = NEEDED[operation.op];
  if (needed !== undefined && !grants.includes(needed)) return needed;
  return hasPush(operation) && !grants.includes("push") ? "push" : undefined;
}

/** A message can carry a push config. */
const hasPush = (operation: Operation): boolean =>
  (operation.op === "send" || operation.op === "stream") && operation.send.push !== undefined;

/** Operations that need no authentication. */
export const isPublic = ({ op }: Operation): boolean => op === "card" || op === "agents";

/**
 * Operations of anonymous callers on public agents. All anonymous callers share one principal, so list and push are not
 * among them: each would see, or receive, the tasks of the others.
 */
const ANONYMOUS_OPERATIONS: ReadonlySet<Operation["op"]> = new Set<Operation["op"]>([
  "send",
  "stream",
  "get",
  "subscribe",
  "cancel",
]);
export const allowsAnonymousCall = (operation: Operation): boolean =>
  ANONYMOUS_OPERATIONS.has(operation.op) && !hasPush(operation);
