import { type AgentName, isSettled, type Scope, type Task, type TaskId } from "../../model/index.ts";
import type { Unfinished } from "./journal.ts";

/**
 * Which tasks are due. Turns in one context run one after another, in order of arrival: only the head of a
 * context's line is due. Everything here can be made again from the journal.
 */
export interface Queue {
  /** A task wants a run; a task already in line keeps its place. */
  enter(item: Unfinished): void;
  /** A task has settled: the next one in its context may go. */
  leave(item: Unfinished): void;
  /** Due tasks of these agents, in order of arrival, taken off the due list. */
  take(agents: ReadonlySet<AgentName>, max: number): readonly Unfinished[];
  /** A taken task wants another run, before the others of its context. */
  again(item: Unfinished): void;
  /** Another task that is in its line: running, due or waiting. */
  before(item: Unfinished): TaskId | undefined;
  /** All in line, due or waiting or running, by agent. */
  count(): ReadonlyMap<AgentName, number>;
}

export function createQueue(onDue: () => void): Queue {
  const lines = new Map<string, Unfinished[]>();
  const due = new Map<AgentName, Map<TaskId, Unfinished>>();

  const makeDue = (item: Unfinished): void => {
    let ready = due.get(item.agent);
    if (!ready) due.set(item.agent, (ready = new Map()));
    ready.set(item.taskId, item);
    onDue();
  };

  return {
    enter(item) {
      const key = item.line;
      const line = lines.get(key);
      if (!line) {
        lines.set(key, [item]);
        makeDue(item);
      } else if (!line.some(one => one.taskId === item.taskId)) line.push(item);
    },
    leave(item) {
      const key = item.line;
      const line = lines.get(key);
      if (!line) return;
      const at = line.findIndex(one => one.taskId === item.taskId);
      if (at === -1) return;
      due.get(item.agent)?.delete(item.taskId);
      if (line.length === 1) lines.delete(key);
      else {
        line.splice(at, 1);
        if (at === 0) makeDue(line[0] as Unfinished);
      }
    },
    take(agents, max) {
      const taken: Unfinished[] = [];
      for (const [agent, ready] of due) {
        if (!agents.has(agent)) continue;
        for (const item of ready.values()) {
          if (taken.length === max) return taken;
          ready.delete(item.taskId);
          taken.push(item);
        }
      }
      return taken;
    },
    again: makeDue,
    before: item => lines.get(item.line)?.find(one => one.taskId !== item.taskId)?.taskId,
    count() {
      const counts = new Map<AgentName, number>();
      for (const line of lines.values())
        for (const item of line) counts.set(item.agent, (counts.get(item.agent) ?? 0) + 1);
      return counts;
    },
  };
}

/** The line of a context: it belongs to one caller and one agent. */
export const lineOf = (scope: Scope, agent: string, contextId: string): string =>
  `${scope.tenant}\n${scope.principal}\n${agent}\n${contextId}`;

export function toItem(
  scope: Scope,
  task: Pick<Task, "id" | "agent" | "contextId"> & { readonly alone?: boolean },
): Unfinished {
  const { id: taskId, agent, contextId, alone = false } = task;
  return { taskId, scope, agent, line: alone ? taskId : lineOf(scope, agent, contextId) };
}

export const wantsRun = (task: Task): boolean => !isSettled(task.status.state);
