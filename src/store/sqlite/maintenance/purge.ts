import type { DatabaseSync } from "node:sqlite";
import type { AgentName, Retention } from "../../../model/index.ts";
import type { Bounds, Journal, Place } from "../../single-node/backend.ts";
import { bitesOf, boundsOf } from "../../single-node/maintenance.ts";
import { createSqliteJournal } from "../backend.ts";
import { openDatabase, openToRead, requireSchema, StoreRefusal } from "../open.ts";
import { createFinder } from "../retention-query.ts";

export interface PurgeParts {
  readonly folder: string;
  /** undefined: the tasks of all agents. */
  readonly agent: AgentName | undefined;
  readonly retention: Pick<Retention, "ageMs" | "count">;
  readonly now: number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  /** Only says what would go. */
  readonly dryRun: boolean;
  readonly onProgress: (done: number, total: number) => void;
}

export interface Purged {
  readonly tasks: number;
  /** So many stay although they are old or many, because their calls may still be repeated. */
  readonly keyed: number;
}

/** Takes old tasks away from the store of a server that does not run. */
export async function purgeStore(parts: PurgeParts): Promise<Purged> {
  if (parts.dryRun) return countOutdated(parts);
  const { db, unlock } = openDatabase({ folder: parts.folder, durability: "power" });
  const journal = createSqliteJournal({
    db,
    find: async () => ({ tasks: [], logs: [] }),
    ticks: parts.ticks,
    onClose: unlock,
  });
  try {
    const find = createSearch(db, parts);
    const counts = countsOf(find);
    await removeAll(journal, find, done => parts.onProgress(done, counts.tasks));
    return counts;
  } finally {
    journal.close();
  }
}

function countOutdated(parts: PurgeParts): Purged {
  const opened = openToRead(parts.folder);
  try {
    requireSchema(opened);
    return countsOf(createSearch(opened.db, parts));
  } finally {
    opened.db.close();
  }
}

type Search = (more?: Partial<Bounds>) => readonly Place[];

/** Finds all that is to go, of one agent or of all. */
function createSearch(db: DatabaseSync, { folder, agent, retention, now }: PurgeParts): Search {
  const find = createFinder(db);
  const known = db
    .prepare("SELECT DISTINCT agent FROM owner ORDER BY agent")
    .all()
    .map(row => row.agent);
  if (agent !== undefined && !known.includes(agent))
    throw new StoreRefusal(
      `There are no tasks of an agent "${agent}" in ${folder}. There are: ${known.join(", ") || "none"}.`,
    );
  const agents = agent === undefined ? (known as AgentName[]) : [agent];
  const bounds = { ...boundsOf(retention, now), max: Number.POSITIVE_INFINITY };
  return more => agents.flatMap(one => find(one, { ...bounds, ...more }).tasks);
}

function countsOf(find: Search): Purged {
  const tasks = find().length;
  return { tasks, keyed: find({ namedBy: Number.POSITIVE_INFINITY }).length - tasks };
}

/** A long log takes several rounds. */
async function removeAll(journal: Journal, find: Search, onRemoved: (done: number) => void): Promise<void> {
  let touched = 0;
  for (let tasks = find(), last = 0; tasks.length > 0; tasks = find(), last = touched) {
    for (const bite of bitesOf({ tasks, logs: [] })) {
      touched += journal.prune(bite).length;
      onRemoved(touched);
      await new Promise(resolve => setImmediate(resolve));
    }
    if (touched === last) throw new Error("tasks that were found could not be removed");
  }
}
