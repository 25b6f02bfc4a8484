import { ChurnMap } from "../../lib/churn-map.ts";
import { type AgentName, isSettled, type Scope, type Task, type TaskId } from "../../model/index.ts";
import { type Bound, callerOf, overQuota, overShare, Stalls } from "../kernel/share.ts";
import type { Unfinished } from "./backend.ts";

/**
 * Which tasks are due. Turns in one context run one after another, in order of arrival: only the head of a
 * context's line is due. Everything here can be made again from the journal.
 */
export interface Queue {
  /** A task wants a run; a task already in line keeps its place. */
  enter(item: Unfinished): void;
  /** A task has settled: the next one in its context may go. */
  leave(item: Unfinished): void;
  /**
   * Due tasks of these agents, taken off the due list: one from each tenant in turn, and there from each caller and
   * agent, so that nobody waits behind all of somebody else's. Those of one caller and agent in order of arrival.
   */
  take(agents: ReadonlySet<AgentName>, max: number): readonly Unfinished[];
  /** A taken task wants another run, before the others of its context. */
  again(item: Unfinished): void;
  /** Another task that is in its line: running, due or waiting. */
  before(item: Unfinished): TaskId | undefined;
  /** All in line that do not run. */
  waiting(): number;
  /** For how long no run could begin for this caller, because as many run as may; 0: one can. */
  heldMs(scope: Scope): number;
  /** All in line, due or waiting or running, by agent. */
  count(): ReadonlyMap<AgentName, number>;
}

/** How many runs a caller, and all callers of its tenant, may have at once. */
export interface RunQuota {
  readonly caller: number;
  readonly tenant: number;
}

/** Due tasks of one caller and one agent. */
interface Lane {
  readonly agent: AgentName;
  readonly scope: Scope;
  readonly items: ChurnMap<TaskId, Unfinished>;
}

export interface QueueParts {
  readonly onDue: () => void;
  readonly runQuota: (scope: Scope) => RunQuota;
  /** Runs at once in this process, of which no tenant and no caller takes all; undefined: they may. */
  readonly runsShared?: number | undefined;
  readonly ticks: () => number;
}

export function createQueue({ onDue, runQuota, runsShared, ticks }: QueueParts): Queue {
  const lines = new ChurnMap<string, Unfinished[]>();
  /** By tenant, and there by caller and agent. In turn: from where a task was taken, that goes to the end. */
  const due = new Map<string, Map<string, Lane>>();
  const running = createTally();
  const stalls = new Stalls(ticks);
  let waiting = 0;
  /** A due task was left where it is, because too many of its caller's run. */
  let held = false;

  const makeDue = (item: Unfinished): void => {
    const { agent, scope } = item;
    const lanes = due.get(scope.tenant) ?? new Map<string, Lane>();
    const key = laneOf(item);
    const lane = lanes.get(key) ?? { agent, scope, items: new ChurnMap() };
    due.set(scope.tenant, lanes);
    lanes.set(key, lane);
    lane.items.set(item.taskId, item);
    onDue();
  };
  const end = (item: Unfinished): void => {
    if (!running.remove(item)) waiting -= 1;
    else if (held) {
      held = false;
      onDue();
    }
  };
  function boundOf(scope: Scope): Bound | undefined {
    const quota = runQuota(scope);
    const ofTenant = running.ofTenant(scope);
    const ofCaller = running.ofCaller(scope);
    const over = overQuota(quota, ofTenant, ofCaller);
    return over || runsShared === undefined
      ? over
      : overShare(quota, ofTenant, ofCaller, runsShared - running.all());
  }

  const hasRoom = ({ scope }: Lane): boolean => {
    const bound = boundOf(scope);
    if (!bound) return true;
    held = true;
    stalls.stop(scope, bound);
    return false;
  };

  /** The next one of a tenant that may run. */
  function takeOf(
    tenant: string,
    lanes: Map<string, Lane>,
    agents: ReadonlySet<AgentName>,
  ): Unfinished | undefined {
    for (const [key, lane] of lanes) {
      if (!agents.has(lane.agent) || !hasRoom(lane)) continue;
      const item = lane.items.first() as Unfinished;
      lane.items.delete(item.taskId);
      lanes.delete(key);
      if (lane.items.size > 0) lanes.set(key, lane);
      due.delete(tenant);
      if (lanes.size > 0) due.set(tenant, lanes);
      running.add(item);
      stalls.go(item.scope);
      waiting -= 1;
      return item;
    }
    return undefined;
  }

  function withdraw(item: Unfinished): void {
    const lanes = due.get(item.scope.tenant);
    const lane = lanes?.get(laneOf(item));
    if (!lanes || !lane?.items.delete(item.taskId) || lane.items.size > 0) return;
    lanes.delete(laneOf(item));
    if (lanes.size === 0) due.delete(item.scope.tenant);
  }

  return {
    enter(item) {
      const key = item.line;
      const line = lines.get(key);
      if (!line) {
        lines.set(key, [item]);
        waiting += 1;
        makeDue(item);
      } else if (!line.some(one => one.taskId === item.taskId)) {
        line.push(item);
        waiting += 1;
      }
    },
    leave(item) {
      const key = item.line;
      const line = lines.get(key);
      if (!line) return;
      const at = line.findIndex(one => one.taskId === item.taskId);
      if (at === -1) return;
      end(item);
      withdraw(item);
      if (line.length === 1) lines.delete(key);
      else {
        line.splice(at, 1);
        if (at === 0) makeDue(line[0] as Unfinished);
      }
    },
    take(agents, max) {
      const taken: Unfinished[] = [];
      for (let before = -1; taken.length > before && taken.length < max; ) {
        before = taken.length;
        for (const [tenant, lanes] of [...due]) {
          if (taken.length === max) break;
          const item = takeOf(tenant, lanes, agents);
          if (item) taken.push(item);
        }
      }
      return taken;
    },
    again(item) {
      if (running.remove(item)) waiting += 1;
      makeDue(item);
    },
    before: item => lines.get(item.line)?.find(one => one.taskId !== item.taskId)?.taskId,
    waiting: () => waiting,
    heldMs(scope) {
      if (stalls.isEmpty) return 0;
      if (!boundOf(scope)) stalls.go(scope);
      return stalls.ms(scope);
    },
    count() {
      const counts = new Map<AgentName, number>();
      for (const line of lines.values())
        for (const item of line) counts.set(item.agent, (counts.get(item.agent) ?? 0) + 1);
      return counts;
    },
  };
}

/** How many tasks run, by caller and by tenant. */
function createTally() {
  const tasks = new ChurnMap<TaskId, true>();
  const counts = new Map<string, number>();
  function change({ scope }: Unfinished, by: 1 | -1): void {
    for (const key of [scope.tenant, callerOf(scope)]) {
      const count = (counts.get(key) ?? 0) + by;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    }
  }
  return {
    all: (): number => tasks.size,
    ofTenant: ({ tenant }: Scope): number => counts.get(tenant) ?? 0,
    ofCaller: (scope: Scope): number => counts.get(callerOf(scope)) ?? 0,
    add(item: Unfinished): void {
      tasks.set(item.taskId, true);
      change(item, 1);
    },
    /** false: it was not running. */
    remove(item: Unfinished): boolean {
      const was = tasks.delete(item.taskId);
      if (was) change(item, -1);
      return was;
    },
  };
}

const laneOf = ({ agent, scope }: Unfinished): string => `${agent}\n${scope.principal}`;

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
