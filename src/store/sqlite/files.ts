/** The data folder and its files: created if missing, accessible only to the user that runs the server. */
import {
  chmodSync,
  closeSync,
  fchmodSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { StartupError } from "../../lib/startup-error.ts";

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** The permissions of group and others. */
const OTHERS = 0o077;
/** A folder that many users share, such as /tmp. */
const STICKY = 0o1000;

const STORE_FILE =
  /^(?:dragoman\.(?:db|lock|pid|store|url)|access\.db)(?:-wal|-shm|-journal|-wal\.damaged)?$/;

/** Creates the folder if it is missing, and removes the permissions of other users on it and on the files of a store. */
export function prepareFolder(folder: string): void {
  const path = resolve(folder);
  try {
    createFolder(path, FOLDER_MODE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartupError(
      `The data folder ${folder} cannot be created (${code ?? "unknown reason"}). Choose another with --data DIR, or --data :memory: to store nothing.`,
    );
  }
  restrictFolder(path);
}

/** Without the option `recursive`: on /proc, Node would retry without end. */
function createFolder(folder: string, mode: number | undefined): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  const parent = dirname(folder);
  if (found || parent === folder) throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
  createFolder(parent, undefined);
  try {
    mkdirSync(folder, mode);
    if (mode === undefined) return;
    chmodSync(folder, mode);
    // Tasks and keys do not belong into a repository. A folder that was there before may hold other files.
    writeFileSync(join(folder, ".gitignore"), "*\n", { mode: FILE_MODE });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

function restrictFolder(folder: string): void {
  if (process.platform === "win32") return;
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    // Opening the files will report the error.
    return;
  }
  const files = names.filter(name => STORE_FILE.test(name));
  // A folder with other files in it is only restricted after the first start.
  if ((names.length === 0 || files.length > 0) && !containsWorkingDirectory(folder))
    restrict(folder, FOLDER_MODE);
  for (const name of files) restrict(join(folder, name), FILE_MODE);
}

/** The server was started in or below the folder: then it contains more than a store. */
const containsWorkingDirectory = (folder: string): boolean =>
  `${process.cwd()}${sep}`.startsWith(`${folder}${sep}`);

function restrict(path: string, mode: number): void {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  if (!found || (found.mode & OTHERS) === 0 || (found.mode & STICKY) !== 0) return;
  try {
    chmodSync(path, mode);
  } catch {
    // It belongs to another user.
  }
}

/** Creates an empty database file if it is missing: SQLite gives its other files the same mode. */
export function createPrivateFile(file: string): void {
  let handle: number;
  try {
    handle = openSync(file, "wx", FILE_MODE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  try {
    // Regardless of the umask.
    if (process.platform !== "win32") fchmodSync(handle, FILE_MODE);
  } finally {
    closeSync(handle);
  }
}

export const notWritable = (folder: string, error: unknown): StartupError =>
  new StartupError(
    `The data folder ${folder} cannot be written (${(error as NodeJS.ErrnoException).code ?? "unknown reason"}). ` +
      "Give this user write permission, or choose another folder with --data DIR.",
  );
