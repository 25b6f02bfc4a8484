import { type Scope, viewed } from "../model/index.ts";
import type { Answer } from "../ports/index.ts";
import { type CoreParts, findAsked, type OperationOf } from "./lookup.ts";

export async function get(parts: CoreParts, operation: OperationOf<"get">, scope: Scope): Promise<Answer> {
  const { task, agent } = await findAsked(parts, operation, scope);
  return { kind: "task", task: viewed(task, operation.view), agent };
}
