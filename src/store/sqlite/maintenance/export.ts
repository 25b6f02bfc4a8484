import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TaskId } from "../../../model/index.ts";
import type { MovedShelved, MovedStore, MovedTask, MovedToken } from "../../kernel/moved-rows.ts";
import { unpack } from "../../kernel/unpack.ts";
import { openDatabase } from "../open.ts";
import { createOwners } from "../owners.ts";
import { createPushTable } from "../pushes.ts";
import { openBook } from "../tokens-file.ts";
import { readUsage } from "../usage.ts";

interface TaskRow extends Omit<MovedTask, "hidden" | "segments" | "names" | "deliveries"> {
  readonly key: number;
  readonly hidden: number;
  readonly whole: string | null;
}

/** All that is in the store of a folder, for another one. Nobody else may write to it meanwhile. */
export function openToLeave(folder: string): MovedStore {
  const { db, unlock } = openDatabase({ folder, durability: "power" });
  const owners = createOwners(db);
  const pushes = createPushTable(db, owners).journal;
  const tasks = db.prepare(
    "SELECT task.*, tenant, principal, agent FROM task JOIN owner ON owner.id = task.owner ORDER BY key",
  );
  const segments = db.prepare("SELECT last, rev, events FROM segment WHERE task = ? ORDER BY last");
  const names = db.prepare("SELECT kind, name, seq, digest FROM name WHERE task = ?");
  const shelves = db.prepare(
    "SELECT tenant, principal, agent, shelf, key, value FROM shelf JOIN owner ON owner.id = shelf.owner",
  );

  function toMoved(row: TaskRow): MovedTask {
    const { key, hidden, whole, ...rest } = row;
    return {
      ...rest,
      hidden: hidden === 1,
      segments: whole === null ? (segments.all(key) as never) : [toSegment(whole, row.rev)],
      names: names.all(key) as never,
      deliveries: pushes.of(row.id as TaskId),
    };
  }

  return {
    counts: { tasks: (db.prepare("SELECT count(*) AS tasks FROM task").get() as { tasks: number }).tasks },
    *tasks() {
      for (const row of tasks.iterate()) yield toMoved(row as unknown as TaskRow);
    },
    shelves: () => shelves.iterate() as unknown as Iterable<MovedShelved>,
    usage: () => readUsage(db, { from: 0, to: Number.MAX_SAFE_INTEGER }),
    tokens: () => readTokens(folder),
    close() {
      db.close();
      unlock();
    },
  };
}

/** The events of a task whose whole life was one commit stand in its own row. */
const toSegment = (whole: string, rev: number): MovedTask["segments"][number] => ({
  last: unpack(whole, null).length,
  rev,
  events: whole,
});

function readTokens(folder: string): readonly MovedToken[] {
  if (!existsSync(join(folder, "access.db"))) return [];
  const book = openBook(folder);
  try {
    return book.prepare("SELECT * FROM token").all() as unknown as readonly MovedToken[];
  } finally {
    book.close();
  }
}
