import { type Scope, viewed } from "../model/index.ts";
import type { Answer } from "../ports/index.ts";
import { type CoreParts, findAgent, type OperationOf } from "./lookup.ts";

export async function list(parts: CoreParts, operation: OperationOf<"list">, scope: Scope): Promise<Answer> {
  const agent = findAgent(parts, operation, scope);
  const page = await parts.store.tasks.list(scope, agent.name, operation.filter, operation.view);
  return { kind: "page", page: { ...page, tasks: page.tasks.map(task => viewed(task, operation.view)) } };
}
