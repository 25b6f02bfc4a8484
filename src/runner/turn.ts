import type { Message, Task } from "../model/index.ts";
import type { Log, Run, Store, Turn } from "../ports.ts";

/** Earlier tasks of a context that an agent can look back on. */
const HISTORY_TASKS_MAX = 100;

export interface TurnParts {
  readonly store: Store;
  readonly log: Log;
  readonly newId: () => string;
}

/** What a runtime gets to work with. */
export class RunTurn implements Turn {
  readonly task: Task;
  readonly message: Message;
  readonly attempt: number;
  readonly log: Log;
  readonly #run: Run;
  readonly #parts: TurnParts;
  readonly #signal: () => AbortSignal;

  constructor(parts: TurnParts, run: Run, signal: () => AbortSignal) {
    this.task = run.task;
    this.message = lastSaid(run.task);
    this.attempt = run.attempt - run.task.attemptsBefore;
    this.log = parts.log;
    this.#run = run;
    this.#parts = parts;
    this.#signal = signal;
  }

  /** Made when first asked for: most short runs never look at it. */
  get signal(): AbortSignal {
    return this.#signal();
  }

  newId(): string {
    return this.#parts.newId();
  }

  async history(): Promise<readonly Message[]> {
    const { task } = this;
    const filter = { contextId: task.contextId, pageSize: HISTORY_TASKS_MAX };
    const { tasks } = await this.#parts.store.tasks.list(this.#run.scope, task.agent, filter);
    return tasks
      .filter(one => one.id < task.id)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .flatMap(told);
  }
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
