import type { Command } from "commander";
import type { Terminal } from "./terminal.ts";
import { Trouble } from "./trouble.ts";

/** For commands that look at what a server keeps. */
export const dataOption = (command: Command): Command =>
  command.option("--data <folder>", "the data folder of the server (default: as `serve` would choose it)");

/** The data folder, as a server started here would choose it. */
export async function dataFolder(terminal: Terminal, data: string | undefined): Promise<string> {
  const { readSettings } = await import("../config/config.ts");
  const settings = await readSettings({ cwd: terminal.cwd, flags: data === undefined ? {} : { data } });
  if (settings.data !== ":memory:") return settings.data;
  throw new Trouble("A server with --data :memory: keeps nothing; name a folder with --data DIR");
}
