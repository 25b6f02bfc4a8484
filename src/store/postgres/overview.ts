import {
  type AgentName,
  type ContextId,
  LIMITS,
  type Seq,
  type TaskId,
  type TaskState,
  timeKey,
} from "../../model/index.ts";
import type {
  ClusterNode,
  ContextEnds,
  OwnerFilter,
  ScannedTask,
  TaskCount,
  TaskOverview,
} from "../../ports/index.ts";
import { contextKey } from "../kernel/context-key.ts";
import { STATES } from "../kernel/state-numbers.ts";
import { addOwners, Condition } from "./condition.ts";
import type { Database } from "./database.ts";
import { LOWEST, type ScanRow, scanTasks } from "./overview-scan.ts";
import type { OwnerIds } from "./owners.ts";
import { readNewestPushes, toSubscription } from "./pushes.ts";
import type { TaskReader } from "./reader.ts";

export interface OverviewParts {
  readonly db: Database;
  readonly owners: OwnerIds;
  readonly reader: TaskReader;
  readonly readNodes: () => Promise<readonly ClusterNode[]>;
}

const NO_OWNER = -1;
const OF_CONTEXT =
  "SELECT t.id FROM task t WHERE t.context = k.context AND t.context_id = k.context_id AND t.owner = k.owner ORDER BY t.id";
const CONTEXT_ENDS =
  "SELECT k.nth, f.id AS first, l.id AS last " +
  "FROM unnest($1::bigint[], $2::text[], $3::int[]) WITH ORDINALITY AS k(context, context_id, owner, nth) " +
  `CROSS JOIN LATERAL (${OF_CONTEXT} LIMIT 1) f CROSS JOIN LATERAL (${OF_CONTEXT} DESC LIMIT 1) l`;

async function countTasks(
  db: Database,
  condition: Condition,
  filter: OwnerFilter,
): Promise<readonly TaskCount[]> {
  addOwners(condition, filter);
  const rows = await db.query<{ agent: AgentName; state: number; count: number }>(
    `SELECT o.agent, c.state, sum(c.count)::bigint AS count FROM (SELECT t.owner, t.state, count(*) AS count ` +
      `FROM task t WHERE ${condition.sql} GROUP BY t.owner, t.state) c JOIN owner o ON o.id = c.owner GROUP BY o.agent, c.state`,
    condition.values,
  );
  return rows.map(({ agent, state, count }) => ({ agent, state: STATES[state] as TaskState, count }));
}

export function createOverview({ db, owners, reader, readNodes }: OverviewParts): TaskOverview {
  async function toScanned(rows: readonly ScanRow[]): Promise<readonly ScannedTask[]> {
    await owners.load(rows.map(row => row.owner));
    return rows.map(row => ({
      taskId: row.id,
      scope: owners.scopeOf(row.owner),
      agent: owners.agentOf(row.owner),
      contextId: row.context_id as ContextId,
    }));
  }

  return {
    async scan(query) {
      const { rows, next } = await scanTasks(db, query);
      return { tasks: await toScanned(rows), next };
    },
    async scanWaiting({ owners: filter, states, after, max }) {
      const condition = new Condition();
      addOwners(condition, filter);
      condition.add("t.state IN (2, 3)");
      condition.add(
        "t.state = ANY(?)",
        [...states].map(state => STATES.indexOf(state)),
      );
      condition.add("(t.status_at, t.id) > (?::bigint, ?::uuid)", after?.at ?? -1, after?.taskId ?? LOWEST);
      const rows = await db.query<{ id: TaskId; status_at: number }>(
        `SELECT t.id, t.status_at FROM task t WHERE ${condition.sql} ORDER BY t.status_at, t.id LIMIT ${max}`,
        condition.values,
      );
      const last = rows.at(-1);
      const next = rows.length === max && last ? { at: last.status_at, taskId: last.id } : undefined;
      return { taskIds: rows.map(row => row.id), next };
    },
    async read(taskIds) {
      const known = taskIds.filter(taskId => timeKey(taskId) !== null);
      const bytes = await reader.readSizes(known);
      let total = 0;
      const end = known.findIndex((id, i) => (total += bytes.get(id) ?? 0) > LIMITS.pageBytesMax && i > 0);
      const wanted = end === -1 ? known : known.slice(0, end);
      const found = await reader.readAll(wanted);
      const tasks = wanted.flatMap(id => {
        const cached = found.get(id);
        if (!cached) return [];
        const { scope, task, seq, compactedSeq } = cached;
        return [{ scope, task, seq: seq as Seq, since: compactedSeq as Seq }];
      });
      return { tasks, used: end === -1 ? taskIds.length : end };
    },
    async contextEnds(contexts) {
      const ids = await Promise.all(contexts.map(({ scope, agent }) => owners.find(scope, agent)));
      const rows = await db.query<ContextEnds & { readonly nth: number }>(CONTEXT_ENDS, [
        contexts.map(one => contextKey(one.contextId)),
        contexts.map(one => one.contextId),
        ids.map(id => id ?? NO_OWNER),
      ]);
      const byNth = new Map(rows.map(({ nth, first, last }) => [nth, { first, last }]));
      return contexts.map((_, i) => byNth.get(i + 1));
    },
    count: filter => countTasks(db, new Condition(), filter),
    countWaiting: filter => countTasks(db, new Condition().add("t.state IN (2, 3)"), filter),
    async scanPushes({ owners: filter, state, host, after, max }) {
      const condition = new Condition(2);
      addOwners(condition, filter);
      if (host !== undefined) condition.add("p.host = ?", host);
      if (state === "failing") condition.add("p.state = 'live' AND p.next_at IS NOT NULL");
      else if (state !== undefined) condition.add("p.state = ?", state);
      const rows = await readNewestPushes(
        db,
        after ?? Number.MAX_SAFE_INTEGER,
        max,
        `AND ${condition.sql}`,
        condition.values,
      );
      await owners.load(rows.map(row => row.owner));
      const pushes = rows.map(row => ({ ...toSubscription(row, owners), agent: owners.agentOf(row.owner) }));
      return { pushes, next: rows.length < max ? undefined : rows.at(-1)?.nth };
    },
    nodes: readNodes,
  };
}
