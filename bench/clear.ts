import { rmSync } from "node:fs";

/** What has to be ended and removed when the bench ends. */
export interface Watched {
  groups: number[];
  folders: string[];
}

export function clear({ groups, folders }: Watched): void {
  for (const group of groups) endGroup(group);
  for (const folder of folders) removeFolder(folder);
}

export function endGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // The group has ended already.
  }
}

/** Tries again when a file appears meanwhile: a process just killed may have been in the middle of a write. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
