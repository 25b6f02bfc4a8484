import { applyView, type Scope } from "../model/index.ts";
import type { OperationResult } from "../ports/index.ts";
import { findAgent, type OperationOf, type OperationParts } from "./lookup.ts";

export async function list(
  parts: OperationParts,
  operation: OperationOf<"list">,
  scope: Scope,
): Promise<OperationResult> {
  const agent = findAgent(parts, operation, scope);
  const page = await parts.store.tasks.list(scope, agent.name, operation.filter, operation.view);
  return { kind: "page", page: { ...page, tasks: page.tasks.map(task => applyView(task, operation.view)) } };
}
