import type { Message, Task } from "../model/index.ts";
import type { Log, Run, Store, Turn } from "../ports.ts";

/** Earlier tasks of a context that an agent can look back on. */
const HISTORY_TASKS_MAX = 100;

/** What a runtime gets to work with. The signal is made when first asked for: most short runs never look at it. */
export function createTurn(parts: {
  run: Run;
  store: Store;
  log: Log;
  newId: () => string;
  signal: () => AbortSignal;
}): Turn {
  const { run, store } = parts;
  const { task } = run;
  return {
    task,
    message: lastSaid(task),
    attempt: run.attempt - task.attemptsBefore,
    log: parts.log,
    newId: parts.newId,
    get signal() {
      return parts.signal();
    },
    async history() {
      const filter = { contextId: task.contextId, pageSize: HISTORY_TASKS_MAX };
      const { tasks } = await store.tasks.list(run.scope, task.agent, filter);
      return tasks
        .filter(one => one.createdAt <= task.createdAt && one.id < task.id)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .flatMap(told);
    },
  };
}

function lastSaid(task: Task): Message {
  const said = task.history.findLast(message => message.role === "user");
  if (!said) throw new Error("a run without a message");
  return said;
}

/** A task as a conversation: what was said, and what the agent made of it. */
function told(task: Task): readonly Message[] {
  const made = task.artifacts.flatMap(artifact => artifact.parts);
  const { contextId, id: taskId } = task;
  const result: Message[] =
    made.length > 0
      ? [{ messageId: `${task.id}-result`, role: "agent", parts: made, contextId, taskId }]
      : [];
  return [...task.history, ...(task.status.message ? [task.status.message] : []), ...result];
}
