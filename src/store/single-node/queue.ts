import { ChurnMap } from "../../lib/churn-map.ts";
import { type AgentName, isSettled, type Scope, type Task, type TaskId } from "../../model/index.ts";
import {
  findExceededQuota,
  findExceededShare,
  type QuotaLevel,
  type RunQuota,
  StallTimes,
  toCallerKey,
} from "../kernel/run-quota.ts";
import type { QueueItem } from "./backend.ts";

/** Due tasks of one caller and one agent. */
interface Lane {
  readonly agent: AgentName;
  readonly scope: Scope;
  readonly items: ChurnMap<TaskId, QueueItem>;
}

export interface QueueParts {
  readonly onDue: () => void;
  readonly runQuota: (scope: Scope) => RunQuota;
  /** Run slots of this process, of which no single tenant or caller gets all; undefined: no such limit. */
  readonly runsShared?: number | undefined;
  readonly ticks: () => number;
}

/**
 * Which tasks are due. Turns of one context run one after another, in order of arrival: only the first task of a context
 * is due. The queue is rebuilt from the backend at the start.
 */
export function createQueue({ onDue, runQuota, runsShared, ticks }: QueueParts) {
  /** By serial key, in order of arrival. */
  const serial = new ChurnMap<string, QueueItem[]>();
  /** By tenant, then by caller and agent. A tenant or lane from which a task was taken goes to the end. */
  const due = new Map<string, Map<string, Lane>>();
  const running = createRunCounts();
  const stalls = new StallTimes(ticks);
  let waiting = 0;
  /** A due task was skipped because of a limit of concurrent runs. */
  let hasBlocked = false;

  function makeDue(item: QueueItem): void {
    const { agent, scope } = item;
    const lanes = due.get(scope.tenant) ?? new Map<string, Lane>();
    const key = toLaneKey(item);
    const lane = lanes.get(key) ?? { agent, scope, items: new ChurnMap() };
    due.set(scope.tenant, lanes);
    lanes.set(key, lane);
    lane.items.set(item.taskId, item);
    onDue();
  }

  function findLimit(scope: Scope): QuotaLevel | undefined {
    const quota = runQuota(scope);
    const ofTenant = running.ofTenant(scope);
    const ofCaller = running.ofCaller(scope);
    const exceeded = findExceededQuota(quota, ofTenant, ofCaller);
    return exceeded || runsShared === undefined
      ? exceeded
      : findExceededShare(quota, ofTenant, ofCaller, runsShared - running.all());
  }

  function canRun({ scope }: Lane): boolean {
    const limit = findLimit(scope);
    if (!limit) return true;
    hasBlocked = true;
    stalls.start(scope, limit);
    return false;
  }

  /** The next task of a tenant that may run. */
  function takeFrom(
    tenant: string,
    lanes: Map<string, Lane>,
    agents: ReadonlySet<AgentName>,
  ): QueueItem | undefined {
    for (const [key, lane] of lanes) {
      if (!agents.has(lane.agent) || !canRun(lane)) continue;
      const item = lane.items.first() as QueueItem;
      lane.items.delete(item.taskId);
      lanes.delete(key);
      if (lane.items.size > 0) lanes.set(key, lane);
      due.delete(tenant);
      if (lanes.size > 0) due.set(tenant, lanes);
      running.add(item);
      stalls.end(item.scope);
      waiting -= 1;
      return item;
    }
    return undefined;
  }

  function removeDue(item: QueueItem): void {
    const lanes = due.get(item.scope.tenant);
    const lane = lanes?.get(toLaneKey(item));
    if (!lanes || !lane?.items.delete(item.taskId) || lane.items.size > 0) return;
    lanes.delete(toLaneKey(item));
    if (lanes.size === 0) due.delete(item.scope.tenant);
  }

  return {
    /** A task needs a run; a task that is already in the queue keeps its place. */
    enter(item: QueueItem): void {
      const items = serial.get(item.serialKey);
      if (!items) {
        serial.set(item.serialKey, [item]);
        waiting += 1;
        makeDue(item);
      } else if (!items.some(one => one.taskId === item.taskId)) {
        items.push(item);
        waiting += 1;
      }
    },
    /** A task has settled: the next task of its context becomes due. */
    leave(item: QueueItem): void {
      const items = serial.get(item.serialKey);
      const index = items?.findIndex(one => one.taskId === item.taskId) ?? -1;
      if (!items || index === -1) return;
      if (!running.remove(item)) waiting -= 1;
      else if (hasBlocked) {
        hasBlocked = false;
        onDue();
      }
      removeDue(item);
      if (items.length === 1) serial.delete(item.serialKey);
      else {
        items.splice(index, 1);
        if (index === 0) makeDue(items[0] as QueueItem);
      }
    },
    /**
     * Takes due tasks of these agents, round robin by tenant and then by caller and agent, so that no caller waits behind
     * all tasks of another. Tasks of one caller and agent are taken in order of arrival.
     */
    take(agents: ReadonlySet<AgentName>, max: number): readonly QueueItem[] {
      const taken: QueueItem[] = [];
      for (let before = -1; taken.length > before && taken.length < max; ) {
        before = taken.length;
        for (const [tenant, lanes] of [...due]) {
          if (taken.length === max) break;
          const item = takeFrom(tenant, lanes, agents);
          if (item) taken.push(item);
        }
      }
      return taken;
    },
    /** A task that was taken needs another run, before the others of its context. */
    requeue(item: QueueItem): void {
      if (running.remove(item)) waiting += 1;
      makeDue(item);
    },
    /** Another task with the same serial key: running, due or waiting. */
    findOther: (item: QueueItem): TaskId | undefined =>
      serial.get(item.serialKey)?.find(one => one.taskId !== item.taskId)?.taskId,
    /** The number of tasks in the queue that do not run. */
    waiting: (): number => waiting,
    /** For how long no run could begin for this caller because of its limit of concurrent runs; 0: a run can begin. */
    blockedMs(scope: Scope): number {
      if (stalls.isEmpty) return 0;
      if (!findLimit(scope)) stalls.end(scope);
      return stalls.ms(scope);
    },
    /** All tasks in the queue, running ones included, by agent. */
    count(): ReadonlyMap<AgentName, number> {
      const counts = new Map<AgentName, number>();
      for (const items of serial.values())
        for (const item of items) counts.set(item.agent, (counts.get(item.agent) ?? 0) + 1);
      return counts;
    },
  };
}

/** The number of running tasks, by caller and by tenant. */
function createRunCounts() {
  const tasks = new ChurnMap<TaskId, true>();
  const counts = new Map<string, number>();
  function change({ scope }: QueueItem, by: 1 | -1): void {
    for (const key of [scope.tenant, toCallerKey(scope)]) {
      const count = (counts.get(key) ?? 0) + by;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    }
  }
  return {
    all: (): number => tasks.size,
    ofTenant: ({ tenant }: Scope): number => counts.get(tenant) ?? 0,
    ofCaller: (scope: Scope): number => counts.get(toCallerKey(scope)) ?? 0,
    add(item: QueueItem): void {
      tasks.set(item.taskId, true);
      change(item, 1);
    },
    /** false: the task was not running. */
    remove(item: QueueItem): boolean {
      const wasRunning = tasks.delete(item.taskId);
      if (wasRunning) change(item, -1);
      return wasRunning;
    },
  };
}

const toLaneKey = ({ agent, scope }: QueueItem): string => `${agent}\n${scope.principal}`;

/** Contexts of different callers and agents are different contexts. */
export const toSerialKey = (scope: Scope, agent: string, contextId: string): string =>
  `${scope.tenant}\n${scope.principal}\n${agent}\n${contextId}`;

export function toQueueItem(
  scope: Scope,
  task: Pick<Task, "id" | "agent" | "contextId"> & { readonly alone?: boolean },
): QueueItem {
  const { id: taskId, agent, contextId, alone = false } = task;
  return { taskId, scope, agent, serialKey: alone ? taskId : toSerialKey(scope, agent, contextId) };
}

export const needsRun = (task: Task): boolean => !isSettled(task.status.state);
