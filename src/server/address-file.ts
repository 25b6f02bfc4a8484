/** The address of a running server, in its data folder: commands on the same machine find it there. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE_NAME = "dragoman.url";
const FILE_MODE = 0o600;

/** Failures are ignored: the file is a convenience, and the store reports a folder that cannot be written. */
export function writeAddress(folder: string, url: string): void {
  try {
    writeFileSync(join(folder, FILE_NAME), `${url}\n`, { mode: FILE_MODE });
  } catch {}
}

export function removeAddress(folder: string): void {
  rmSync(join(folder, FILE_NAME), { force: true });
}

/** undefined: no server runs there, or its store is not a folder. After a kill the address may be out of date. */
export function readAddress(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, FILE_NAME), "utf8").trim();
  } catch {
    return undefined;
  }
}
