/** Asks the handlers of a custom `Auth` about calls of A2A and MCP, so that no protocol is a way around them. */
import type { Scope } from "../model/index.ts";
import type { Authenticator, CustomAuth, CustomUser, ExecuteOperation, Operation } from "../ports/index.ts";
import { askHandler } from "./custom-auth.ts";

/** What an operation does with a thread; undefined: nothing that handlers know. */
const ACTIONS: Partial<Record<Operation["op"], string>> = {
  send: "create_run",
  stream: "create_run",
  get: "read",
  subscribe: "read",
  list: "search",
  cancel: "update",
  "push-set": "update",
  "push-get": "read",
  "push-list": "read",
  "push-delete": "update",
};

/**
 * A filter of a handler has no effect here: tasks and contexts belong to the caller that created them, and no call reaches
 * those of others.
 */
export function createCustomGuard(auth: CustomAuth, authenticator: Authenticator) {
  const users = new WeakMap<Scope, CustomUser>();

  async function ask(operation: Operation, scope: Scope): Promise<void> {
    const user = users.get(scope);
    const action = ACTIONS[operation.op];
    // The routes of LangGraph's API have asked already.
    const isAsked = "send" in operation && operation.send.request !== undefined;
    if (user && action !== undefined && !isAsked)
      await askHandler(auth, user, "threads", action, toValue(operation));
  }

  return {
    authenticator: {
      ...authenticator,
      authorize(principal, operation) {
        const scope = authenticator.authorize(principal, operation);
        if (principal?.user) users.set(scope, principal.user);
        return scope;
      },
    } satisfies Authenticator,
    guard:
      (execute: ExecuteOperation): ExecuteOperation =>
      async (operation, scope, signal) => {
        await ask(operation, scope);
        return execute(operation, scope, signal);
      },
  };
}

function toValue(operation: Operation): Record<string, unknown> {
  const { agent } = operation;
  const contextId =
    "send" in operation ? operation.send.contextId : "contextId" in operation && operation.contextId;
  return {
    ...(agent !== undefined && { assistant_id: agent }),
    ...(contextId && { thread_id: contextId }),
    ...("taskId" in operation && { run_id: operation.taskId }),
    ...("send" in operation && { metadata: { ...operation.send.metadata } }),
  };
}
