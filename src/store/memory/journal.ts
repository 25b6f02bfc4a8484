import {
  type AgentName,
  apply,
  isHidden,
  isSettled,
  type Recorded,
  type Scope,
  type Seq,
  type Step,
  type Task,
  type TaskId,
} from "../../model/index.ts";
import type { ListFilter, Name, Named } from "../../ports.ts";
import { belongsTo } from "../hot/entry.ts";
import type { Change, Journal, Listing, Loaded } from "../hot/journal.ts";
import { toItem } from "../hot/queue.ts";

interface Kept {
  readonly scope: Scope;
  task: Task;
  readonly events: Recorded[];
  /** The revision of each change of status, ascending. */
  readonly revs: number[];
}

/** Keeps everything in memory: for tests, for trying things, and as the plainest example of a journal. */
export function createMemoryJournal(): Journal {
  const kept = new Map<TaskId, Kept>();
  const names = new Map<string, Named>();
  const keyOf = ({ tenant, principal }: Scope, agent: AgentName, { kind, name }: Name): string =>
    JSON.stringify([tenant, principal, agent, kind, name]);

  function keep(change: Change): void {
    let one = kept.get(change.task.id);
    if (!one)
      kept.set(change.task.id, (one = { scope: change.scope, task: change.task, events: [], revs: [] }));
    one.task = change.task;
    for (const { seq, at, event } of change.steps)
      one.events.push({ seq, at, event: event as Recorded["event"] });
    for (const { kind, name, ...named } of change.names)
      names.set(keyOf(change.scope, change.task.agent, { kind, name }), {
        ...named,
        taskId: change.task.id,
      });
    if (change.rev !== null) one.revs.push(change.rev);
    change.bytes = 100 * change.steps.length;
  }

  return {
    lastRev: 0,
    lastAt: 0,
    load(taskId): Loaded | null {
      const one = kept.get(taskId);
      if (!one) return null;
      return { scope: one.scope, task: one.task, seq: one.events.length as Seq, snapshotSeq: 0, bytes: 100 };
    },
    read(taskId, after, max, base) {
      const events = kept.get(taskId)?.events ?? [];
      let task = base;
      if (!base) for (const recorded of events.slice(0, after)) task = apply(task, recorded);
      return events.slice(after, after + max).map((recorded): Step => {
        task = apply(task, recorded);
        return { ...recorded, taskId, contextId: (task as Task).contextId, task: task as Task };
      });
    },
    commit(changes) {
      for (const change of changes) keep(change);
    },
    named: (scope, agent, name) => names.get(keyOf(scope, agent, name)) ?? null,
    list(scope, agent, filter, cursor): Listing {
      const matching = [...kept.values()].filter(one => matches(one, scope, agent, filter));
      const places = matching
        .map(one => ({ taskId: one.task.id, rev: one.revs.findLast(rev => rev <= cursor.bound) ?? 0 }))
        .filter(place => place.rev > 0 && place.rev < cursor.below)
        .sort((a, b) => b.rev - a.rev)
        .slice(0, filter.pageSize + 1);
      return { places, total: matching.length };
    },
    unfinished: () =>
      [...kept.values()]
        .filter(one => !isSettled(one.task.status.state))
        .map(one => toItem(one.scope, one.task)),
    close() {
      kept.clear();
    },
  };
}

function matches(one: Kept, scope: Scope, agent: AgentName, filter: ListFilter): boolean {
  const { task } = one;
  if (!belongsTo(one, scope) || task.agent !== agent || isHidden(task)) return false;
  if (filter.contextId !== undefined && task.contextId !== filter.contextId) return false;
  if (filter.state !== undefined && task.status.state !== filter.state) return false;
  return filter.statusSince === undefined || task.status.at >= filter.statusSince;
}
