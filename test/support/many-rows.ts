/** The queries of lists over 100,000 tasks, each with a name, for tests of the plans of databases. */

import { toScope } from "../../src/auth/scope.ts";
import {
  type AgentName,
  type ContextId,
  createIdGenerator,
  type TaskId,
  timeKey,
} from "../../src/model/index.ts";
import type { TaskOverview } from "../../src/ports/index.ts";
import { contextKey } from "../../src/store/kernel/context-key.ts";

export const ROWS = 100_000;
const START = Date.UTC(2026, 10, 1);
/** One of so many tasks is not completed: failed, waiting, rejected. */
const OTHER_STATES = [5, 2, 7] as const;

export interface ManyRow {
  readonly id: TaskId;
  readonly key: number;
  readonly owner: number;
  readonly context: number | bigint;
  readonly contextId: string;
  readonly state: number;
  readonly at: number;
}

/** Owner 1 has nearly all tasks, owner 2 one in a hundred, owner 3 the ten oldest; agents in turn. */
export const OWNERS = [
  ["acme", "alice", "anna"],
  ["acme", "bob", "bert"],
  ["evil", "eve", "cleo"],
] as const;

export function* manyRows(): Generator<ManyRow> {
  let now = START;
  const newId = createIdGenerator({ now: () => now, randomHex: n => "0".repeat(2 * n) });
  for (let at = 0; at < ROWS; at++) {
    now += 1_000;
    const id = newId() as TaskId;
    const contextId = `context ${Math.floor(at / 5)}`;
    yield {
      id,
      key: timeKey(id) as number,
      owner: at < 10 ? 3 : at % 100 === 0 ? 2 : 1,
      context: contextKey(contextId as ContextId),
      contextId,
      state: at % 50 === 7 ? (OTHER_STATES[at % 3] as number) : 4,
      at: now,
    };
  }
}

const agents = (...names: string[]) => new Set(names as AgentName[]);
const page = { owners: {}, withHidden: false, order: "newest", max: 50 } as const;
const context = { scope: toScope("acme", "alice"), agent: "anna" as AgentName };
const middle = START + (ROWS / 2) * 1_000;

/** Every list, filter and count of the admin API. */
export const LISTS: Readonly<Record<string, (overview: TaskOverview) => Promise<unknown>>> = {
  all: on => on.scan(page),
  "with bare replies": on => on.scan({ ...page, withHidden: true }),
  "an agent with many tasks": on => on.scan({ ...page, owners: { agents: agents("anna") } }),
  "an agent with few tasks": on => on.scan({ ...page, owners: { agents: agents("bert") } }),
  "the oldest tasks of a caller": on => on.scan({ ...page, owners: { principal: "eve" } }),
  "an unknown caller": on => on.scan({ ...page, owners: { principal: "mallory" } }),
  "a tenant": on => on.scan({ ...page, owners: { tenant: "acme" } }),
  "a tenant with few tasks": on => on.scan({ ...page, owners: { tenant: "evil" } }),
  failed: on => on.scan({ ...page, states: new Set(["failed"]) }),
  "failed or rejected": on => on.scan({ ...page, states: new Set(["failed", "rejected"]) }),
  "failed of an agent": on =>
    on.scan({ ...page, states: new Set(["failed"]), owners: { agents: agents("bert") } }),
  "running, of which there are none": on => on.scan({ ...page, states: new Set(["working", "submitted"]) }),
  completed: on => on.scan({ ...page, states: new Set(["completed"]) }),
  "completed or failed": on => on.scan({ ...page, states: new Set(["completed", "failed"]) }),
  "created before a time": on => on.scan({ ...page, to: middle }),
  "created in a minute": on => on.scan({ ...page, from: middle, to: middle + 60_000 }),
  "a context, the oldest first": on =>
    on.scan({ ...page, contextId: "context 500" as ContextId, order: "oldest" }),
  "a context of a caller": on =>
    on.scan({ ...page, contextId: "context 500" as ContextId, owners: { principal: "alice" } }),
  "the ends of contexts": on =>
    on.contextEnds([10, 5_000].map(at => ({ ...context, contextId: `context ${at}` as ContextId }))),
  "the inbox": on =>
    on.scanWaiting({ owners: {}, states: new Set(["input-required", "auth-required"]), max: 50 }),
  "the number of tasks in the inbox": on => on.countWaiting({}),
  deliveries: on => on.scanPushes({ owners: {}, max: 50 }),
};
