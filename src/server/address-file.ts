/** The address of a running server, in files: commands on the same machine find it there. */
import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FILE_NAME = "dragoman.url";
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Where the address is: in the data folder, if there is one, and in a folder of this user, by the folder in which the
 * server was started. A store in memory or in a database has no folder, and a config may name any.
 */
export const addressFiles = (cwd: string, data: string | undefined): readonly string[] => [
  ...(data === undefined ? [] : [join(data, FILE_NAME)]),
  join(userFolder(), `${encodeURIComponent(cwd)}.url`),
];

const userFolder = (): string => join(tmpdir(), `dragoman-${process.getuid?.() ?? "user"}`);

/** Failures are ignored: the files are a convenience, and the store reports a folder that cannot be written. */
export function writeAddress(files: readonly string[], url: string): void {
  ignoreErrors(() => mkdirSync(userFolder(), { mode: FOLDER_MODE }));
  for (const file of files.filter(isTrusted))
    ignoreErrors(() => writeFileSync(file, `${url}\n${process.pid}\n`, { mode: FILE_MODE }));
}

/** A server that was started later in the same folder keeps its own. */
export function removeAddress(files: readonly string[], url: string): void {
  for (const file of files) if (readAddress([file]) === url) ignoreErrors(() => rmSync(file));
}

/** undefined: no server runs there. The address of a process that was killed does not count. */
export function readAddress(files: readonly string[]): string | undefined {
  for (const file of files.filter(isTrusted)) {
    const [url, pid] = ignoreErrors(() => readFileSync(file, "utf8").split("\n")) ?? [];
    if (url !== undefined && isRunning(Number(pid))) return url;
  }
  return undefined;
}

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Other users can write below the temporary folder: tokens must not be sent to an address of theirs. */
function isTrusted(file: string): boolean {
  const folder = userFolder();
  if (!file.startsWith(folder)) return true;
  const found = ignoreErrors(() => lstatSync(folder));
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}

function ignoreErrors<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
