import type { DatabaseSync } from "node:sqlite";
import { StartupError } from "../../../lib/startup-error.ts";
import type { AgentName } from "../../../model/index.ts";
import type { PurgeRequest, PurgeResult } from "../../../ports/index.ts";
import { type RetentionBounds, toRetentionBounds } from "../../kernel/retention.ts";
import type { Backend, TaskRevision } from "../../single-node/backend.ts";
import { splitIntoCommits } from "../../single-node/maintenance.ts";
import { createSqliteBackend } from "../backend.ts";
import { openDatabase, openReadOnly, requireSchema } from "../open.ts";
import { createRetentionQuery } from "../retention-query.ts";

export interface PurgeParts extends PurgeRequest {
  readonly folder: string;
  readonly now: number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
}

/** Removes expired tasks from the store of a stopped server. */
export async function purgeStore(parts: PurgeParts): Promise<PurgeResult> {
  if (parts.dryRun) return countExpired(parts);
  const { db, unlock } = openDatabase({ folder: parts.folder, durability: "power" });
  const backend = createSqliteBackend({
    db,
    findExpired: async () => ({ tasks: [], logs: [] }),
    ticks: parts.ticks,
    onClose: unlock,
  });
  try {
    const find = createSearch(db, parts);
    const counts = toCounts(find);
    await removeAll(backend, find, done => parts.onProgress(done, counts.tasks));
    return counts;
  } finally {
    backend.close();
  }
}

function countExpired(parts: PurgeParts): PurgeResult {
  const opened = openReadOnly(parts.folder);
  try {
    requireSchema(opened);
    return toCounts(createSearch(opened.db, parts));
  } finally {
    opened.db.close();
  }
}

type TaskSearch = (bounds?: Partial<RetentionBounds>) => readonly TaskRevision[];

/** Finds all expired tasks, of one agent or of all. */
function createSearch(db: DatabaseSync, { folder, agent, retention, now }: PurgeParts): TaskSearch {
  const query = createRetentionQuery(db);
  const known = db
    .prepare("SELECT DISTINCT agent FROM owner ORDER BY agent")
    .all()
    .map(row => row.agent as AgentName);
  if (agent !== undefined && !known.includes(agent))
    throw new StartupError(
      `There are no tasks of an agent "${agent}" in ${folder}. Agents with tasks: ${known.join(", ") || "none"}.`,
    );
  const agents = agent === undefined ? known : [agent];
  const bounds = { ...toRetentionBounds(retention, now), max: Number.POSITIVE_INFINITY };
  return others => agents.flatMap(one => query(one, { ...bounds, ...others }).tasks);
}

function toCounts(find: TaskSearch): PurgeResult {
  const tasks = find().length;
  return { tasks, keyed: find({ namedBy: Number.POSITIVE_INFINITY }).length - tasks };
}

/** A long log takes several rounds. */
async function removeAll(
  backend: Backend,
  find: TaskSearch,
  onRemoved: (done: number) => void,
): Promise<void> {
  let pruned = 0;
  for (let tasks = find(), before = 0; tasks.length > 0; tasks = find(), before = pruned) {
    for (const part of splitIntoCommits({ tasks, logs: [] })) {
      pruned += backend.prune(part).length;
      onRemoved(pruned);
      await new Promise(resolve => setImmediate(resolve));
    }
    if (pruned === before) throw new Error("expired tasks could not be removed");
  }
}
