/** A disk of a few megabytes that a test can fill and free. */
import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "./server.ts";

export interface TinyDisk {
  readonly path: string;
  /** Writes until the disk is full. */
  fill(): void;
  free(): void;
  remove(): void;
}

/** null: this user may not mount a disk. */
export function createTinyDisk(megabytes: number): TinyDisk | null {
  const { path, remove } = tempFolder();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=0755`, "tmpfs", path]);
  if (mounted.status !== 0) {
    remove();
    return null;
  }
  const ballast = join(path, "ballast");
  return {
    path,
    fill() {
      const file = openSync(ballast, "a");
      try {
        for (const bytes of [65_536, 4_096]) writeUntilFull(file, Buffer.alloc(bytes));
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(ballast, { force: true }),
    remove() {
      spawnSync("umount", ["-l", path]);
      remove();
    },
  };
}

function writeUntilFull(file: number, block: Buffer): void {
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}
