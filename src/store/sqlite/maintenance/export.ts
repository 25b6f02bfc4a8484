import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TaskId } from "../../../model/index.ts";
import { unpackEvents } from "../../kernel/packed-events.ts";
import type { ResourceRow } from "../../kernel/resource-row.ts";
import type {
  ExportedItem,
  ExportedSchedule,
  ExportedStorage,
  ExportedTask,
  ExportedToken,
  StoreExport,
} from "../../kernel/store-export.ts";
import { openDatabase } from "../open.ts";
import { createOwnerTable } from "../owners.ts";
import { createPushTable } from "../pushes.ts";
import { openTokenFile } from "../token-file.ts";
import { readUsage } from "../usage.ts";

interface TaskRow extends Omit<ExportedTask, "hidden" | "segments" | "names" | "pushes"> {
  readonly key: number;
  readonly hidden: number;
  readonly whole: string | null;
}

/** The content of the store in a folder, which is locked meanwhile. */
export function openForExport(folder: string): StoreExport {
  const { db, unlock } = openDatabase({ folder, durability: "power" });
  const pushes = createPushTable(db, createOwnerTable(db)).backend;
  const selectTasks = db.prepare(
    "SELECT task.*, tenant, principal, agent FROM task JOIN owner ON owner.id = task.owner ORDER BY key",
  );
  const selectSegments = db.prepare("SELECT last, rev, events FROM segment WHERE task = ? ORDER BY last");
  const selectNames = db.prepare("SELECT kind, name, seq, digest FROM name WHERE task = ?");
  const selectStorage = db.prepare(
    "SELECT tenant, principal, agent, shelf, key, value FROM shelf JOIN owner ON owner.id = shelf.owner",
  );

  function toExported({ key, hidden, whole, ...row }: TaskRow): ExportedTask {
    return {
      ...row,
      hidden: hidden === 1,
      // A task that was created and ended in one commit has its events in its own row.
      segments:
        whole === null
          ? (selectSegments.all(key) as never)
          : [{ last: unpackEvents(whole, null).length, rev: row.rev, events: whole }],
      names: selectNames.all(key) as never,
      pushes: pushes.of(row.id as TaskId),
    };
  }

  return {
    counts: { tasks: (db.prepare("SELECT count(*) AS tasks FROM task").get() as { tasks: number }).tasks },
    *tasks() {
      for (const row of selectTasks.iterate()) yield toExported(row as unknown as TaskRow);
    },
    resources: () => db.prepare("SELECT * FROM resource").iterate() as unknown as Iterable<ResourceRow>,
    storage: () => selectStorage.iterate() as unknown as Iterable<ExportedStorage>,
    items: () => db.prepare("SELECT * FROM item").iterate() as unknown as Iterable<ExportedItem>,
    schedules: () => db.prepare("SELECT * FROM schedule").iterate() as unknown as Iterable<ExportedSchedule>,
    usage: () => readUsage(db, { from: 0, to: Number.MAX_SAFE_INTEGER }),
    tokens: () => readTokens(folder),
    close() {
      db.close();
      unlock();
    },
  };
}

function readTokens(folder: string): readonly ExportedToken[] {
  if (!existsSync(join(folder, "access.db"))) return [];
  const db = openTokenFile(folder);
  try {
    return db.prepare("SELECT * FROM token").all() as unknown as readonly ExportedToken[];
  } finally {
    db.close();
  }
}
