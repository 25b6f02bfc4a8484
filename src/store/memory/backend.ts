import {
  type AgentName,
  isHidden,
  isSettled,
  isTerminal,
  type RecordedEvent,
  type Scope,
  type Seq,
  type Step,
  snapshotOf,
  type Task,
  type TaskId,
} from "../../model/index.ts";
import type { CallerName, ListFilter, NamedTask } from "../../ports/index.ts";
import { HotStep } from "../kernel/log-step.ts";
import type { Bounds, Change, Journal, Listing, Loaded, Outdated, Place } from "../single-node/backend.ts";
import { belongsTo } from "../single-node/entry.ts";
import { toItem } from "../single-node/queue.ts";
import { createPushTable } from "./pushes.ts";
import { createShelves } from "./storage.ts";
import { createUsages } from "./usage.ts";

interface Kept {
  readonly scope: Scope;
  task: Task;
  /** Those after `since`. */
  events: RecordedEvent[];
  /** Events up to this one are gone; then `base` is the task after it. */
  since: number;
  base: Task | null;
  /** The revision of each change of status, ascending. */
  readonly revs: number[];
  /** The names that callers gave to it and to their calls. */
  readonly names: CallerName[];
}

/** Keeps everything in memory: for tests, for trying things, and as the plainest example of a journal. */
export function createMemoryJournal(): Journal {
  const kept = new Map<TaskId, Kept>();
  const names = new Map<string, NamedTask>();
  const shelves = createShelves();
  const usages = createUsages();
  const pushes = createPushTable(taskId => {
    const one = kept.get(taskId);
    return one && seqOf(one);
  });
  const keyOf = ({ tenant, principal }: Scope, agent: AgentName, { kind, name }: CallerName): string =>
    JSON.stringify([tenant, principal, agent, kind, name]);

  function keep(change: Change): void {
    const one = kept.get(change.task.id) ?? begin(change);
    one.task = change.task;
    usages.keep(change);
    for (const { seq, at, event } of change.steps)
      one.events.push({ seq, at, event: event as RecordedEvent["event"] });
    for (const { kind, name, ...named } of change.names) {
      one.names.push({ kind, name });
      names.set(keyOf(one.scope, one.task.agent, { kind, name }), { ...named, taskId: one.task.id });
    }
    if (change.rev !== null) one.revs.push(change.rev);
  }

  function begin({ scope, task }: Change): Kept {
    const one: Kept = { scope, task, events: [], since: 0, base: null, revs: [], names: [] };
    kept.set(task.id, one);
    return one;
  }

  function remove(one: Kept): void {
    kept.delete(one.task.id);
    pushes.clear(one.task.id);
    const { scope, task } = one;
    for (const name of one.names) names.delete(keyOf(scope, task.agent, name));
    if (!isContextKnown(one)) shelves.clear({ scope, agent: task.agent, area: task.contextId });
  }

  /** Whether another task is still in the context of this one. */
  const isContextKnown = ({ scope, task }: Kept): boolean =>
    [...kept.values()].some(
      other =>
        other.task.contextId === task.contextId && other.task.agent === task.agent && belongsTo(other, scope),
    );

  const unmoved = ({ taskId, rev }: Place): readonly Kept[] => {
    const one = kept.get(taskId);
    return one && revOf(one) === rev ? [one] : [];
  };

  return {
    lastRev: 0,
    lastAt: 0,
    load(taskId): Loaded | null {
      const one = kept.get(taskId);
      if (!one) return null;
      const { scope, task, since } = one;
      return { scope, task, seq: seqOf(one), snapshotSeq: 0, since: since as Seq };
    },
    loadBytes: () => 0,
    read(taskId, after, max, base) {
      const one = kept.get(taskId);
      if (!one) return [];
      const { events, since } = one;
      if (after < since) return [snapshotOf(one.base as Task, since as Seq)];
      let before: HotStep | Task | null = base ?? one.base;
      const from = base ? after - since : 0;
      const steps: Step[] = [];
      for (const { seq, at, event } of events.slice(from, from + max)) {
        before = new HotStep(seq, at, event, before, null);
        steps.push(before);
      }
      return steps;
    },
    commit(changes, puts, configs) {
      for (const change of changes) keep(change);
      for (const put of puts) shelves.put(put);
      for (const change of configs) pushes.keep(change);
    },
    named: (scope, agent, name) => names.get(keyOf(scope, agent, name)) ?? null,
    count: scope => {
      const tenant = [...kept.values()].filter(one => one.scope.tenant === scope.tenant);
      return { tenant: tenant.length, caller: tenant.filter(one => belongsTo(one, scope)).length };
    },
    spent: usages.spent,
    spentByAll: usages.spentByAll,
    shelved: shelves.list,
    pushes: pushes.journal,
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
    async outdated(agent, bounds) {
      return findOutdated(
        [...kept.values()].filter(one => one.task.agent === agent),
        bounds,
      );
    },
    prune({ tasks, logs }) {
      const gone = tasks.flatMap(unmoved);
      for (const one of gone) remove(one);
      const compacted = logs.flatMap(unmoved);
      for (const one of compacted) Object.assign(one, { since: seqOf(one), base: one.task, events: [] });
      return [...gone, ...compacted].map(one => one.task.id);
    },
    check() {},
    bytes: () => 0,
    close() {
      kept.clear();
      names.clear();
    },
  };
}

const seqOf = (one: Kept): Seq => (one.since + one.events.length) as Seq;
const revOf = (one: Kept): number => one.revs.at(-1) as number;
const toPlace = (one: Kept): Place => ({ taskId: one.task.id, rev: revOf(one) });

function matches(one: Kept, scope: Scope, agent: AgentName, filter: ListFilter): boolean {
  const { task } = one;
  if (!belongsTo(one, scope) || task.agent !== agent || isHidden(task)) return false;
  if (filter.contextId !== undefined && task.contextId !== filter.contextId) return false;
  if (filter.state !== undefined && task.status.state !== filter.state) return false;
  return filter.statusSince === undefined || task.status.at >= filter.statusSince;
}

function findOutdated(all: readonly Kept[], bounds: Bounds): Outdated {
  const settled = all.filter(({ task }) => isSettled(task.status.state)).sort((a, b) => revOf(a) - revOf(b));
  const ended = settled.filter(({ task }) => isTerminal(task.status.state));
  const surplus = new Set(bounds.newest === undefined ? [] : beyond(ended, bounds.newest));
  const isOld = (one: Kept, by: number | undefined): boolean => by !== undefined && one.task.status.at <= by;
  const isFree = (one: Kept): boolean =>
    isOld(one, bounds.namedBy) || one.names.every(({ kind }) => kind === "alias");
  const tasks = settled.filter(one => (isOld(one, bounds.settledBy) || surplus.has(one)) && isFree(one));
  const logs = ended.filter(one => isOld(one, bounds.eventsBy) && one.events.length > 0 && !one.task.reply);
  return { tasks: tasks.slice(0, bounds.max).map(toPlace), logs: logs.slice(0, bounds.max).map(toPlace) };
}

/** All but the newest so many of each caller; bare replies are counted by themselves, since callers do not see them. */
function beyond(ended: readonly Kept[], newest: number): readonly Kept[] {
  const groups = Map.groupBy(ended, ({ scope, task }) =>
    JSON.stringify([scope.tenant, scope.principal, isHidden(task)]),
  );
  return [...groups.values()].flatMap(group => group.slice(0, Math.max(0, group.length - newest)));
}
