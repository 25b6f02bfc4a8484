/** Finds the agents of a folder where neither arguments nor a config name them. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { StartupError } from "../lib/startup-error.ts";
import { isAgentFile } from "./find-files.ts";
import { EXAMPLES_FOLDER } from "./module-hooks.ts";

export const AGENTS_FOLDER = "agents";
/** Where programs usually have their sources. */
const SOURCE_FOLDERS: readonly string[] = ["src", "app", "lib"];
const TOOL_CONFIG = /\.config\.m?[jt]s$/;

/** The folder `agents`; undefined: the folder has no programs, so the bundled examples are served. */
export function findAgents(folder: string): typeof AGENTS_FOLDER | undefined {
  if (existsSync(join(folder, AGENTS_FOLDER))) return AGENTS_FOLDER;
  const programs = folder === OWN_FOLDER ? [] : listPrograms(folder);
  if (programs.length === 0) return undefined;
  throw new StartupError(
    [
      `No agents found in ${folder}: it has no dragoman.config.ts, no langgraph.json and no folder agents/.`,
      `Name your agent:    npx dragoman serve ${programs.find(isAgentFile) ?? "FILE"}`,
      "Or create a project: npx dragoman init NEW-FOLDER",
    ].join("\n"),
  );
}

/** A clone of this package: its sources are not agents of a user. */
const OWN_FOLDER = dirname(fileURLToPath(EXAMPLES_FOLDER));

/** A folder with nothing but packages, settings of tools and documents has none. */
const listPrograms = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter(entry => (entry.isDirectory() ? SOURCE_FOLDERS.includes(entry.name) : isProgram(entry.name)))
    .map(entry => entry.name);

const isProgram = (name: string): boolean =>
  (isAgentFile(name) || name.endsWith(".py")) && !TOOL_CONFIG.test(name);
