import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { MessagePort } from "node:worker_threads";
import { createPrivate } from "../files.ts";
import { openToRead, StoreRefusal } from "../open.ts";
import { runThread, tell } from "../thread.ts";

/** How often one looks how far a copy has come. */
const LOOK_MS = 100;

export interface CopyParts {
  readonly folder: string;
  readonly target: string;
  /** Bytes that are written, and about how many it will be. */
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

export interface Copied {
  readonly tasks: number;
  readonly bytes: number;
}

/**
 * Copies the store in a folder into one file: all that was committed when the copy began and nothing after it, however
 * busy the server is. The file gets its name when it is whole, and not before.
 */
export async function copyStore({ folder, target, onProgress, signal }: CopyParts): Promise<Copied> {
  if (existsSync(target)) throw taken(target);
  const partial = `${target}.${process.pid}.partial`;
  let total = 0;
  const timer = setInterval(() => onProgress(sizeOf(partial), total), LOOK_MS);
  const given = { folder, partial };
  try {
    const tasks = await runThread<number>("copy", given, { signal, onProgress: (_, all) => (total = all) });
    flush(partial);
    giveName(partial, target);
    return { tasks, bytes: sizeOf(target) };
  } finally {
    clearInterval(timer);
    for (const file of [partial, `${partial}-journal`]) rmSync(file, { force: true });
  }
}

/** In the thread. */
export function work(
  { folder, partial }: { readonly folder: string; readonly partial: string },
  port: MessagePort,
): void {
  tell<number>(port, say => {
    const { db, file } = openToRead(folder);
    say({ kind: "progress", done: 0, total: sizeOf(file) });
    try {
      return copyInto(db, partial);
    } catch (error) {
      const { errstr = (error as NodeJS.ErrnoException).code } = error as { errstr?: string };
      if (errstr === undefined) throw error;
      throw new StoreRefusal(
        `The copy could not be written: ${errstr}. Check that its folder is there and can be written, and that the ` +
          "disk has room. If so, look at the store with the command doctor.",
      );
    } finally {
      db.close();
    }
  });
}

/** One reading transaction, so that a server that writes meanwhile neither waits nor gets into the copy. */
function copyInto(db: DatabaseSync, partial: string): number {
  const { tasks } = db.prepare("SELECT count(*) AS tasks FROM task").get() as { tasks: number };
  // An empty file may be there, and keeps its mode.
  createPrivate(partial);
  db.prepare("VACUUM INTO ?").run(partial);
  return tasks;
}

function flush(file: string): void {
  const handle = openSync(file, "r");
  fsyncSync(handle);
  closeSync(handle);
}

/** A link never takes the place of a file that came meanwhile; not every disk knows links. */
function giveName(partial: string, target: string): void {
  try {
    linkSync(partial, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST" || existsSync(target)) throw taken(target);
    renameSync(partial, target);
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

const taken = (target: string): StoreRefusal =>
  new StoreRefusal(`${target} is there already, and nothing is written over it. Choose another name.`);
