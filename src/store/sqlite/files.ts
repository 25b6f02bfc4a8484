/** The data folder and its files: made if they are missing, and only for the user that the server runs as. */
import {
  chmodSync,
  closeSync,
  fchmodSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { StoreRefusal } from "./store-error.ts";

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** What others may do with a file, beside its owner. */
const OTHERS = 0o077;
/** A folder in which many users make files of their own, such as /tmp. */
const STICKY = 0o1000;

const OURS = /^(?:dragoman\.(?:db|lock|pid|store)|access\.db)(?:-wal|-shm|-journal|-wal\.damaged)?$/;

/** Makes the folder if it is missing, and takes from others what they may do with it and with the files of a store. */
export function prepareFolder(folder: string): void {
  const place = resolve(folder);
  try {
    make(place, FOLDER_MODE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StoreRefusal(
      `The data folder ${folder} cannot be made (${code ?? "unknown reason"}). Choose another with --data, or --data :memory: to keep nothing.`,
    );
  }
  tighten(place);
}

/** Not with `recursive`: on /proc Node tries for ever to make a folder in a folder that takes none. */
function make(folder: string, mode: number | undefined): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  const parent = dirname(folder);
  if (found || parent === folder) throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
  make(parent, undefined);
  try {
    mkdirSync(folder, mode);
    if (mode !== undefined) chmodSync(folder, mode);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

function tighten(folder: string): void {
  if (process.platform === "win32") return;
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    // Whether it can be used is seen when its files are opened.
    return;
  }
  const ours = names.filter(name => OURS.test(name));
  // A folder with other files in it becomes ours with the first start, and is not touched before.
  if ((names.length === 0 || ours.length > 0) && !isAround(folder)) restrict(folder, FOLDER_MODE);
  for (const name of ours) restrict(join(folder, name), FILE_MODE);
}

/** The server was started in it: then it holds more than a store. */
const isAround = (folder: string): boolean => `${process.cwd()}${sep}`.startsWith(`${folder}${sep}`);

function restrict(path: string, mode: number): void {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  if (!found || (found.mode & OTHERS) === 0 || (found.mode & STICKY) !== 0) return;
  try {
    chmodSync(path, mode);
  } catch {
    // It belongs to another user, who may know why.
  }
}

/** An empty file for a database that is about to be opened, if there is none: SQLite gives its other files the same mode. */
export function createPrivate(file: string): boolean {
  let handle: number;
  try {
    handle = openSync(file, "wx", FILE_MODE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    // Whatever the umask says.
    if (process.platform !== "win32") fchmodSync(handle, FILE_MODE);
  } finally {
    closeSync(handle);
  }
  return true;
}

export const cannotWrite = (folder: string, error: unknown): StoreRefusal =>
  new StoreRefusal(
    `The data folder ${folder} cannot be written (${(error as NodeJS.ErrnoException).code ?? "unknown reason"}). ` +
      "Give this user the right to write there, or choose another with --data DIR.",
  );
