/** Stops runs. */
import { Fault, isSettled, LIMITS, type Task } from "../model/index.ts";
import type { ApiCall } from "./route.ts";
import type { FoundThread, ThreadRecords } from "./thread-records.ts";

/** Cancels the runs of a thread, and waits for their end. */
export async function stopRuns(threads: ThreadRecords, call: ApiCall, thread: FoundThread): Promise<void> {
  const tasks = await threads.tasksOf(call.scope, thread.id, LIMITS.pageSizeMax);
  await Promise.all(
    tasks.filter(({ status }) => !isSettled(status.state)).map(task => cancelTask(call, task)),
  );
}

/** Waits for the end; a task that has ended by itself is no error. */
export async function cancelTask(call: ApiCall, { agent, id }: Task): Promise<void> {
  try {
    await call.execute({ op: "cancel", agent, taskId: id, again: "task" });
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "task-not-cancelable") throw error;
  }
}
