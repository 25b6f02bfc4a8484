import type { ExecuteOperation } from "../ports/index.ts";
import { cancel } from "./cancel.ts";
import { agents, card, extendedCard } from "./card.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import type { OperationParts } from "./lookup.ts";
import { push } from "./push.ts";
import { send } from "./send.ts";
import { stream } from "./stream.ts";
import { subscribe } from "./subscribe.ts";

/** Executes operations: each gives one result or a stream of steps. */
export function createOperations(parts: OperationParts): ExecuteOperation {
  return (operation, scope, signal) => {
    switch (operation.op) {
      case "send":
        return send(parts, operation, scope, signal);
      case "stream":
        return stream(parts, operation, scope);
      case "subscribe":
        return subscribe(parts, operation, scope);
      case "get":
        return get(parts, operation, scope, signal);
      case "list":
        return list(parts, operation, scope);
      case "cancel":
        return cancel(parts, operation, scope);
      case "card":
        return Promise.resolve(card(parts, operation, scope));
      case "agents":
        return Promise.resolve(agents(parts, operation, scope));
      case "read-resource":
      case "write-resource":
        return Promise.resolve({ kind: "nothing" });
      case "extended-card":
        return extendedCard(parts, operation, scope);
      case "push-set":
      case "push-get":
      case "push-list":
      case "push-delete":
        return push(parts, operation, scope);
    }
  };
}
