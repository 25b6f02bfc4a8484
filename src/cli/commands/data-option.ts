import type { Command } from "commander";
import type { Settings } from "../../config/config.ts";
import { defined } from "../../lib/json.ts";
import type { Log, StoreAdmin } from "../../ports/index.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** For commands that need the store of a server and not its URL. */
export const dataOption = (command: Command): Command =>
  command.option("--data <place>", "data folder or database URL of the server (default: that of `serve`)");

/** For operations that only a store in a folder supports. */
export const dataFolderOption = (command: Command): Command =>
  command.option("--data <folder>", "data folder of the server (default: that of `serve`)");

export interface DataFlags {
  readonly data?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** The settings of a server that is started in this folder with these flags. */
export async function readDataSettings({ cwd }: Terminal, { data, keyFile }: DataFlags): Promise<Settings> {
  const { readSettings } = await import("../../config/config.ts");
  return readSettings({ cwd, flags: defined<{ data?: string; keyFile?: string }>({ data, keyFile }) });
}

/** The store of such a server. */
export const openStore = async (terminal: Terminal, flags: DataFlags): Promise<StoreAdmin> =>
  openStoreAt(terminal, (await readDataSettings(terminal, flags)).data);

export async function openStoreAt(
  { now, sinceStartMs: ticks }: Terminal,
  data: string,
  log?: Log,
): Promise<StoreAdmin> {
  const { openStoreAdmin } = await import("../../server/open-store-admin.ts");
  return openStoreAdmin({ data, now, ticks, ...(log && { log }) });
}
