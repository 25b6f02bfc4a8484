import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import type { MessagePort } from "node:worker_threads";
import { StartupError } from "../../../lib/startup-error.ts";
import type { JobObserver, StoreBackup } from "../../../ports/index.ts";
import { createPrivateFile } from "../files.ts";
import { openReadOnly } from "../open.ts";
import { runJob, runThread, serveJob } from "../thread.ts";

const JOB = { name: "copy", url: import.meta.url } as const;
const PROGRESS_MS = 100;

export interface CopyParts extends JobObserver {
  readonly folder: string;
  readonly target: string;
}

/**
 * Copies the store in a folder into one file: everything that was committed when the copy began, and nothing after it, also
 * while a server is writing. The target file appears only when it is complete. Progress is in bytes, of about so many.
 */
export async function copyStore({
  folder,
  target,
  onProgress,
  signal,
}: CopyParts): Promise<Pick<StoreBackup, "tasks" | "bytes">> {
  if (existsSync(target)) throw targetExists(target);
  const partial = `${target}.${process.pid}.partial`;
  let total = 0;
  const timer = setInterval(() => onProgress(fileSize(partial), total), PROGRESS_MS);
  const input = { folder, partial };
  try {
    const tasks = await runThread<number>(JOB, input, { signal, onProgress: (_, all) => (total = all) });
    const handle = openSync(partial, "r");
    fsyncSync(handle);
    closeSync(handle);
    moveTo(target, partial);
    return { tasks, bytes: fileSize(target) };
  } finally {
    clearInterval(timer);
    for (const file of [partial, `${partial}-journal`]) rmSync(file, { force: true });
  }
}

/** Runs in the thread. */
function work(
  { folder, partial }: { readonly folder: string; readonly partial: string },
  port: MessagePort,
): void {
  runJob<number>(port, post => {
    const { db, file } = openReadOnly(folder);
    post({ kind: "progress", done: 0, total: fileSize(file) });
    try {
      const { tasks } = db.prepare("SELECT count(*) AS tasks FROM task").get() as { tasks: number };
      // VACUUM INTO accepts an empty file and keeps its mode.
      createPrivateFile(partial);
      // One read transaction: a running server neither waits nor gets into the copy.
      db.prepare("VACUUM INTO ?").run(partial);
      return tasks;
    } catch (error) {
      const { errstr = (error as NodeJS.ErrnoException).code } = error as { errstr?: string };
      if (errstr === undefined) throw error;
      throw new StartupError(
        `The copy could not be written: ${errstr}. Check that its folder exists and can be written, and that the ` +
          'disk is not full. If so, check the store with "npx dragoman doctor".',
      );
    } finally {
      db.close();
    }
  });
}

/** A link never replaces a file that was created meanwhile; not every file system supports links. */
function moveTo(target: string, partial: string): void {
  try {
    linkSync(partial, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST" || existsSync(target)) throw targetExists(target);
    renameSync(partial, target);
  }
}

const fileSize = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

const targetExists = (target: string): StartupError =>
  new StartupError(`${target} exists already and is not overwritten. Choose another name.`);

serveJob(JOB, work);
