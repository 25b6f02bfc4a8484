import type { Command } from "commander";
import type { Settings } from "../../config/config.ts";
import { ClientError } from "../terminal/errors.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { isDatabase } from "./open-store.ts";

/** For commands that look at what a server keeps in a folder. */
export const dataOption = (command: Command): Command =>
  command.option("--data <folder>", "the data folder of the server (default: as `serve` would choose it)");

/** For those that do so wherever it is. */
export const placeOption = (command: Command): Command =>
  command.option(
    "--data <place>",
    "the data folder of the server, or its database (default: as `serve` would choose it)",
  );

/** The settings of a server started here that keeps its data: in a folder or in a database. */
export async function readDataSettings(terminal: Terminal, data: string | undefined): Promise<Settings> {
  const { readSettings } = await import("../../config/config.ts");
  const settings = await readSettings({ cwd: terminal.cwd, flags: data === undefined ? {} : { data } });
  if (settings.data !== ":memory:") return settings;
  throw new ClientError("A server with --data :memory: keeps nothing; name a folder with --data DIR");
}

/** Where that is. */
export const dataPlace = async (terminal: Terminal, data: string | undefined): Promise<string> =>
  (await readDataSettings(terminal, data)).data;

/** Its folder, for what can only be done with one. */
export async function dataFolder(terminal: Terminal, data: string | undefined): Promise<string> {
  const place = await dataPlace(terminal, data);
  if (!isDatabase(place)) return place;
  throw new ClientError(
    "This is for the store in a folder; what is in Postgres is looked after with Postgres' own tools",
  );
}
