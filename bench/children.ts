import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { clear, endGroup, removeFolder, type Watched } from "./clear.ts";

/**
 * All processes and folders of a bench. Each child leads a separate process group, so that its whole tree
 * ends with it.
 */
export interface Children {
  spawn(args: string[], env: Record<string, string>): ChildProcess;
  /** Another program than Node. */
  launch(program: string, args: string[], as: { uid?: number; gid?: number }): ChildProcess;
  fork(file: string): ChildProcess;
  end(child: ChildProcess): Promise<void>;
  createFolder(parent: string): string;
  removeFolder(folder: string): void;
  /** Ends everything at once, at the end of the bench, whatever its reason. */
  endAll(): void;
}

export function createChildren(): Children {
  const groups = new Set<number>();
  const folders = new Set<string>();
  const guard = fork(toPath("./guard.ts"), { detached: true, stdio: "ignore" });
  guard.unref();
  guard.channel?.unref();

  const list = (): Watched => ({ groups: [...groups], folders: [...folders] });
  const tellGuard = (): void => void (guard.connected && guard.send(list()));

  function adopt(child: ChildProcess): ChildProcess {
    if (child.pid !== undefined) groups.add(child.pid);
    tellGuard();
    return child;
  }

  async function end(child: ChildProcess): Promise<void> {
    if (child.pid === undefined) return;
    const exited = child.exitCode !== null || child.signalCode !== null ? undefined : once(child, "exit");
    endGroup(child.pid);
    await exited;
    groups.delete(child.pid);
    tellGuard();
  }

  function createFolder(parent: string): string {
    const folder = mkdtempSync(join(parent, "dragoman-bench-"));
    folders.add(folder);
    tellGuard();
    return folder;
  }

  function dropFolder(folder: string): void {
    removeFolder(folder);
    folders.delete(folder);
    tellGuard();
  }

  return {
    spawn: (args, env) => adopt(spawn(process.execPath, args, { ...SPAWN, env: { ...SPAWN.env, ...env } })),
    launch: (program, args, as) => adopt(spawn(program, args, { detached: true, stdio: "ignore", ...as })),
    fork: file =>
      adopt(fork(toPath(file), { detached: true, stdio: ["ignore", "inherit", "inherit", "ipc"] })),
    end,
    createFolder,
    removeFolder: dropFolder,
    endAll: () => clear(list()),
  };
}

const SPAWN = {
  detached: true,
  stdio: ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"],
  env: { ...process.env, NODE_ENV: "production" },
};

function toPath(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
