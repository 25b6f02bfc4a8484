import { Fault, LIMITS, type Scope, type TaskId } from "../model/index.ts";
import type { CoreParts } from "./lookup.ts";

/** Puts on record that the caller gets a task. If the agent spoke meanwhile, there is nothing left to say. */
export async function show(parts: CoreParts, scope: Scope, taskId: TaskId): Promise<void> {
  for (let tries = 0; tries < LIMITS.conflictTriesMax; tries++) {
    const found = await parts.store.tasks.get(scope, taskId);
    if (!found || found.task.shown || found.task.reply) return;
    try {
      return await parts.store.log.append(scope, taskId, [{ type: "shown" }], {
        state: found.task.status.state,
      });
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "conflict") throw error;
    }
  }
}
