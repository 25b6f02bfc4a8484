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
import { contextKey } from "../kernel/context-key.ts";
import { LogStep } from "../kernel/log-step.ts";
import type { RetentionBounds } from "../kernel/retention.ts";
import type {
  Backend,
  ExpiredData,
  Listing,
  LoadedTask,
  TaskChange,
  TaskRevision,
} from "../single-node/backend.ts";
import { toQueueItem } from "../single-node/queue.ts";
import { belongsTo } from "../single-node/task-entry.ts";
import { createMemoryItems } from "./items.ts";
import { createMemoryOverview } from "./overview.ts";
import { createMemoryPushes } from "./pushes.ts";
import { createMemoryResources } from "./resources.ts";
import { createMemorySchedules } from "./schedules.ts";
import { createMemoryStorage } from "./storage.ts";
import { createMemoryUsage } from "./usage.ts";

interface StoredTask {
  readonly scope: Scope;
  task: Task;
  /** Those after `since`. */
  events: RecordedEvent[];
  /** Events up to this one were removed; then `base` is the task after it. */
  since: number;
  base: Task | null;
  /** The revision at which its turn arrived. */
  arrived: number;
  /** The revision of each change of status, ascending. */
  readonly revs: number[];
  /** The names that callers gave to the task and to their calls. */
  readonly names: CallerName[];
}

/** Everything in memory: for tests and trials, and as the simplest example of a backend. */
export function createMemoryBackend(): Backend {
  const tasks = new Map<TaskId, StoredTask>();
  const names = new Map<string, NamedTask>();
  let lastRev = 0;
  let lastAt = 0;
  const storage = createMemoryStorage();
  const resources = createMemoryResources();
  const usage = createMemoryUsage();
  const pushes = createMemoryPushes(
    taskId => {
      const one = tasks.get(taskId);
      return one && seqOf(one);
    },
    taskId => (tasks.get(taskId) as StoredTask).task.agent,
  );
  const toNameKey = ({ tenant, principal }: Scope, agent: AgentName, { kind, name }: CallerName): string =>
    JSON.stringify([tenant, principal, agent, kind, name]);

  function write(change: TaskChange): void {
    const one = tasks.get(change.task.id) ?? create(change);
    one.task = change.task;
    usage.write(change);
    for (const { seq, at, event } of change.steps)
      one.events.push({ seq, at, event: event as RecordedEvent["event"] });
    for (const { kind, name, ...named } of change.names) {
      one.names.push({ kind, name });
      names.set(toNameKey(one.scope, one.task.agent, { kind, name }), { ...named, taskId: one.task.id });
    }
    if (change.rev !== null) one.revs.push(change.rev);
    one.arrived = change.arrived ?? one.arrived;
    lastRev = Math.max(lastRev, change.rev ?? 0, change.arrived ?? 0);
    lastAt = Math.max(lastAt, change.steps.at(-1)?.at ?? 0);
  }

  function create({ scope, task }: TaskChange): StoredTask {
    const log = { events: [], since: 0, base: null };
    const one: StoredTask = { scope, task, ...log, arrived: 0, revs: [], names: [] };
    tasks.set(task.id, one);
    return one;
  }

  function remove({ scope, task, names: taskNames }: StoredTask, keepsStorage: boolean): void {
    tasks.delete(task.id);
    pushes.clear(task.id);
    for (const name of taskNames) names.delete(toNameKey(scope, task.agent, name));
    if (keepsStorage) return;
    const isContextUsed = [...tasks.values()].some(
      other =>
        other.task.contextId === task.contextId && other.task.agent === task.agent && belongsTo(other, scope),
    );
    if (!isContextUsed) storage.clear({ scope, agent: task.agent, area: task.contextId });
  }

  const findUnchanged = ({ taskId, rev }: TaskRevision): readonly StoredTask[] => {
    const one = tasks.get(taskId);
    return one && revOf(one) === rev ? [one] : [];
  };

  return {
    get lastRev() {
      return lastRev;
    },
    get lastAt() {
      return lastAt;
    },
    load(taskId): LoadedTask | null {
      const one = tasks.get(taskId);
      if (!one) return null;
      const { scope, task, since } = one;
      return { scope, task, seq: seqOf(one), snapshotSeq: 0, since: since as Seq };
    },
    loadBytes: () => 0,
    read(taskId, after, max, base) {
      const one = tasks.get(taskId);
      if (!one) return [];
      const { events, since } = one;
      if (after < since) return [snapshotOf(one.base as Task, since as Seq)];
      let before: LogStep | Task | null = base ?? one.base;
      const from = base ? after - since : 0;
      const steps: Step[] = [];
      for (const { seq, at, event } of events.slice(from, from + max)) {
        before = new LogStep(seq, at, event, before, null);
        steps.push(before);
      }
      return steps;
    },
    commit(changes, storageWrites, pushChanges, others) {
      for (const change of changes) write(change);
      for (const one of storageWrites) storage.write(one);
      for (const change of pushChanges) pushes.write(change);
      for (const write of others) write();
    },
    findByName: (scope, agent, name) => names.get(toNameKey(scope, agent, name)) ?? null,
    count: scope => {
      const tenant = [...tasks.values()].filter(one => one.scope.tenant === scope.tenant);
      return { tenant: tenant.length, caller: tenant.filter(one => belongsTo(one, scope)).length };
    },
    spent: usage.spent,
    reportUsage: usage.report,
    listStorage: storage.list,
    resources,
    revOf(taskId) {
      const one = tasks.get(taskId);
      return one ? revOf(one) : null;
    },
    pushes: pushes.backend,
    overview: createMemoryOverview(() => tasks.values()),
    items: createMemoryItems(),
    schedules: createMemorySchedules(),
    list(scope, agent, filter, cursor): Listing {
      const matching = [...tasks.values()].filter(one => matches(one, scope, agent, filter));
      const rows = matching
        .map(one => ({ taskId: one.task.id, rev: one.revs.findLast(rev => rev <= cursor.maxRev) ?? 0 }))
        .filter(row => row.rev > 0 && row.rev < cursor.beforeRev)
        .sort((a, b) => b.rev - a.rev)
        .slice(0, filter.pageSize + 1);
      return { rows, total: matching.length };
    },
    newest: (scope, agent, { contextId, states, max }) =>
      [...tasks.values()]
        .filter(one => matches(one, scope, agent, { ...(contextId !== undefined && { contextId }) }))
        .filter(({ task }) => states?.includes(task.status.state) ?? true)
        .sort((a, b) => (b.revs.at(-1) ?? 0) - (a.revs.at(-1) ?? 0))
        .slice(0, max)
        .map(one => one.task.id),
    waitingContexts: () =>
      [...tasks.values()]
        .filter(({ task: { status } }) => isSettled(status.state) && !isTerminal(status.state))
        .map(one => contextKey(one.task.contextId)),
    unfinished: () =>
      [...tasks.values()]
        .filter(one => !isSettled(one.task.status.state))
        .sort((a, b) => a.arrived - b.arrived)
        .map(one => toQueueItem(one.scope, one.task)),
    async findExpired(agent, bounds) {
      return findExpired(
        [...tasks.values()].filter(one => one.task.agent === agent),
        bounds,
      );
    },
    prune(expired) {
      const removed = expired.tasks.flatMap(found => {
        const unchanged = findUnchanged(found);
        for (const one of unchanged) remove(one, found.keepsStorage === true);
        return unchanged;
      });
      const compacted = expired.logs.flatMap(findUnchanged);
      for (const one of compacted) Object.assign(one, { since: seqOf(one), base: one.task, events: [] });
      return [...removed, ...compacted].map(one => one.task.id);
    },
    check() {},
    bytes: () => 0,
    close() {
      tasks.clear();
      names.clear();
    },
  };
}

const seqOf = (one: StoredTask): Seq => (one.since + one.events.length) as Seq;
const revOf = (one: StoredTask): number => one.revs.at(-1) as number;
const toRevision = (one: StoredTask): TaskRevision => ({ taskId: one.task.id, rev: revOf(one) });

function matches(
  one: StoredTask,
  scope: Scope,
  agent: AgentName,
  filter: Omit<ListFilter, "pageSize">,
): boolean {
  const { task } = one;
  if (!belongsTo(one, scope) || task.agent !== agent || isHidden(task)) return false;
  if (filter.contextId !== undefined && task.contextId !== filter.contextId) return false;
  if (filter.state !== undefined && task.status.state !== filter.state) return false;
  return filter.statusSince === undefined || task.status.at >= filter.statusSince;
}

function findExpired(all: readonly StoredTask[], bounds: RetentionBounds): ExpiredData {
  const settled = all.filter(({ task }) => isSettled(task.status.state)).sort((a, b) => revOf(a) - revOf(b));
  const ended = settled.filter(({ task }) => isTerminal(task.status.state));
  const surplus = new Set(bounds.newest === undefined ? [] : findSurplus(ended, bounds.newest));
  const isOld = (one: StoredTask, by: number | undefined): boolean =>
    by !== undefined && one.task.status.at <= by;
  const isRemovable = (one: StoredTask): boolean =>
    isOld(one, bounds.namedBy) || one.names.every(({ kind }) => kind === "alias");
  const tasks = settled.filter(one => (isOld(one, bounds.settledBy) || surplus.has(one)) && isRemovable(one));
  const logs = ended.filter(one => isOld(one, bounds.eventsBy) && one.events.length > 0 && !one.task.reply);
  return {
    tasks: tasks.slice(0, bounds.max).map(toRevision),
    logs: logs.slice(0, bounds.max).map(toRevision),
  };
}

/** All except the newest ones of each caller; bare replies are counted separately, because lists do not show them. */
function findSurplus(ended: readonly StoredTask[], newest: number): readonly StoredTask[] {
  const groups = Map.groupBy(ended, ({ scope, task }) =>
    JSON.stringify([scope.tenant, scope.principal, isHidden(task)]),
  );
  return [...groups.values()].flatMap(group => group.slice(0, Math.max(0, group.length - newest)));
}
