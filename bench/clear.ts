import { rmSync } from "node:fs";

/** The processes and folders to end and to remove when the bench ends. */
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

/** Retries when a file appears meanwhile: a process that was just killed may have been writing. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
