import { Fault } from "../model/index.ts";
import type { Answer } from "../ports.ts";
import { type CoreParts, findAgent, type OperationOf } from "./deps.ts";

export function card(parts: CoreParts, operation: OperationOf<"card">): Answer {
  const agent = findAgent(parts, operation);
  const isDefault = agent.name === parts.catalog.fallback;
  return { kind: "card", agent, isDefault, base: operation.base };
}

export function agents(parts: CoreParts, operation: OperationOf<"agents">): Answer {
  const { catalog } = parts;
  return { kind: "agents", agents: catalog.all(), fallback: catalog.fallback, base: operation.base };
}

/** v1 §3.1.11: the card says that there is none, so to ask for it is an error of the caller. */
export function extendedCard(parts: CoreParts, operation: OperationOf<"extended-card">): never {
  const agent = findAgent(parts, operation);
  throw new Fault("unsupported-operation", `The agent "${agent.name}" has no extended card`);
}

export function push(
  parts: CoreParts,
  operation: OperationOf<"push-set" | "push-get" | "push-list" | "push-delete">,
): never {
  const agent = findAgent(parts, operation);
  throw new Fault("push-not-supported", `The agent "${agent.name}" sends no push notifications`);
}
