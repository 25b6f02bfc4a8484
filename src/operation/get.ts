import { applyView, type Scope } from "../model/index.ts";
import type { OperationResult } from "../ports/index.ts";
import { findTaskOf, type OperationOf, type OperationParts } from "./lookup.ts";

export async function get(
  parts: OperationParts,
  operation: OperationOf<"get">,
  scope: Scope,
): Promise<OperationResult> {
  const { task, agent } = await findTaskOf(parts, operation, scope);
  return { kind: "task", task: applyView(task, operation.view), agent };
}
