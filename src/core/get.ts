import { type Scope, viewed } from "../model/index.ts";
import type { Answer } from "../ports.ts";
import { type CoreParts, findAgent, findTask, type OperationOf } from "./deps.ts";

export async function get(parts: CoreParts, operation: OperationOf<"get">, scope: Scope): Promise<Answer> {
  const { task } = await findTask(parts, findAgent(parts, operation), scope, operation.taskId);
  return { kind: "task", task: viewed(task, operation.view) };
}
