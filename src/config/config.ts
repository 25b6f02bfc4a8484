/** Reads the settings: defaults, config file, environment and command line, each overriding the one before. */
import { existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { didYouMean, findNearest } from "../lib/did-you-mean.ts";
import { StartupError } from "../lib/startup-error.ts";
import { importFile } from "../loader/import-file.ts";
import { readLanggraphFile } from "../loader/langgraph-json.ts";
import type { LanggraphServer } from "../loader/langgraph-server.ts";
import { withVariables } from "../loader/langgraph-webhooks.ts";
import {
  envName,
  flagName,
  getOption,
  OPTION_NAMES,
  OPTIONS,
  type OptionInputs,
  type OptionName,
  type OptionValues,
  RENAMED,
  type StructuredOption,
} from "./options/index.ts";
import { type Env, findLangchainSwitches, type OtelSettings, readOtel } from "./otel.ts";

export interface Settings extends OptionValues {
  /** The port was set by flag, environment or config. false: where the default port is in use, the next free one is taken. */
  readonly portChosen: boolean;
  /** The folder where relative names in `agents` start. */
  readonly agentsFolder: string;
  /** What names the agents: a flag, a variable or a config file. undefined: nothing does. */
  readonly agentsOrigin: string | undefined;
  /** The config file, if there is one, and the files that it imports. */
  readonly configFiles: readonly string[];
  /** The settings of a langgraph.json that are no options; undefined: there is none. */
  readonly langgraphFile: LanggraphServer | undefined;
  /** The export of traces, from the variables of OpenTelemetry and LangSmith. */
  readonly otel: OtelSettings | undefined;
  /** Deprecated names and ignored entries, for the log. */
  readonly warnings: readonly string[];
}

/** The content of a `dragoman.config.ts`. */
export interface Config extends OptionInputs {
  readonly http?: HttpConfig | undefined;
}

export type { AgentEntry } from "./options/index.ts";

/** Types a config file: `export default defineConfig({ … })`. */
export const defineConfig = (config: Config): Config => config;

/** The flags of a command: values, or their texts. `agents` are the arguments. */
export type FlagValues = Readonly<Record<string, unknown>>;

export interface SettingsParts {
  readonly cwd: string;
  readonly flags?: FlagValues;
  readonly env?: Env;
  /** Above 0: the config file is imported again, once for each number. */
  readonly generation?: number;
}

/** One place where options are set. */
interface Source {
  /** The folder where relative paths start. */
  readonly folder: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** The place of an option, for errors. */
  origin(option: string): string;
  /** Numbers and booleans are written as text. */
  readonly isText: boolean;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

export async function readSettings(parts: SettingsParts): Promise<Settings> {
  const { cwd, flags = {} } = parts;
  const { agents, config } = splitArguments(flags.agents);
  const named = [flags.config, config, (parts.env ?? process.env)[envName("config")]];
  const file = findConfigFile(cwd, named, agents === undefined);
  const read = file === undefined ? undefined : await readConfig(file, parts.generation ?? 0);
  const env = parts.env ? { ...read?.env, ...parts.env } : addToProcessEnv(read?.env ?? {});
  const sources = [
    ...(read ? [read.source] : []),
    envSource(cwd, env),
    flagSource(cwd, { ...flags, agents, config: undefined }),
  ];
  const { files = [], langgraphFile: server } = read ?? {};
  const langgraphFile = server && { ...server, webhooks: withVariables(server.webhooks, env) };
  const otel = readOtel(env);
  if (!parts.env) for (const name of findLangchainSwitches(env)) delete process.env[name];
  return { ...(await merge(cwd, sources)), configFiles: files, langgraphFile, otel };
}

/** For a program that hands in its config: neither files nor the environment are read. */
export const toSettings = async (config: Config, cwd: string, origin: string): Promise<Settings> => ({
  ...(await merge(cwd, [configSource(config, origin, cwd)])),
  configFiles: [],
  langgraphFile: undefined,
  otel: undefined,
});

/** For agents whose definitions name the variable of a key instead of the key. */
export { readVariable } from "./options/variable.ts";

/** For agents that are processes of their own, and get the environment of the server. */
export const readVariables = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

// ---- the config file -----------------------------------------------------------------------------------------

/** Ours by name; LangGraph's under any name. */
const CONFIG_FILE = /^dragoman\.config\.m?[jt]s$|\.json$/;
const LANGGRAPH_NAME = "langgraph.json";
const CONFIG_NAMES = ["ts", "mts", "js", "mjs"].map(extension => `dragoman.config.${extension}`);

/** Arguments of `serve`: agents, and perhaps a config file. */
function splitArguments(words: unknown): { readonly agents: unknown; readonly config?: string } {
  if (!Array.isArray(words)) return { agents: words };
  const config = words.find(word => typeof word === "string" && CONFIG_FILE.test(basename(word)));
  const agents = words.filter(word => word !== config);
  return { agents: agents.length > 0 ? agents : undefined, config };
}

/** A langgraph.json is used by default only where no agents are named. */
function findConfigFile(cwd: string, named: readonly unknown[], hasNoAgents: boolean): string | undefined {
  const name = named.find(value => typeof value === "string" && value !== "") as string | undefined;
  if (name === undefined) {
    const names = hasNoAgents ? [...CONFIG_NAMES, LANGGRAPH_NAME] : CONFIG_NAMES;
    return names.map(usual => resolve(cwd, usual)).find(existsSync);
  }
  const file = resolve(cwd, name);
  if (!existsSync(file)) throw new StartupError(`Config file not found: ${file}`);
  return file;
}

interface ReadConfig {
  readonly source: Source;
  readonly files: readonly string[];
  readonly langgraphFile?: LanggraphServer;
  /** Variables that the file sets. */
  readonly env: Readonly<Record<string, string>>;
}

async function readConfig(file: string, generation: number): Promise<ReadConfig> {
  const folder = dirname(file);
  const source = { folder, origin: () => file, isText: false, warnings: [] };
  if (file.endsWith(".json")) {
    const { files, env, server, ...read } = readLanggraphFile(file);
    return { source: { ...source, ...read }, files, env, langgraphFile: server };
  }
  const { module, files } = await importFile(file, generation);
  const config = module.default;
  if (typeof config === "object" && config !== null && !Array.isArray(config))
    return { source: configSource(config, file, folder), files, env: {} };
  const problem = `${file} must \`export default defineConfig({ … })\`, but its default export is ${show(config)}`;
  return { source: { ...source, values: {}, problems: [problem] }, files, env: {} };
}

/** Agents and their libraries read the environment themselves. Variables that are set already stay. */
function addToProcessEnv(variables: Readonly<Record<string, string>>): Env {
  for (const [name, value] of Object.entries(variables)) process.env[name] ??= value;
  return process.env;
}

// ---- sources -------------------------------------------------------------------------------------------------

/** `a2a: false` as LangGraph's own config file spells it; valid in a config file only. */
interface HttpConfig {
  readonly disable_a2a: boolean;
}
const HTTP_EXPECTED = "{ disable_a2a: true } or { disable_a2a: false }";

const isHttpConfig = (given: unknown): given is HttpConfig =>
  typeof given === "object" &&
  given !== null &&
  Object.keys(given).length === 1 &&
  typeof (given as Partial<HttpConfig>).disable_a2a === "boolean";

/** `origin`: the place of the config, for errors. */
function configSource(config: object, origin: string, folder: string): Source {
  const { http, ...given } = config as Record<string, unknown>;
  const { values, warnings } = withoutFormerNames(given, name => `"${name}"`, `${origin}: `);
  const problems = Object.keys(values)
    .filter(key => !isOption(key))
    .map(key => `${origin}: there is no option "${key}"${didYouMean(key, OPTION_NAMES)}`);
  if (http !== undefined && !isHttpConfig(http))
    problems.push(`http: expected ${HTTP_EXPECTED}, got ${show(http)} (from ${origin})`);
  const all = { ...values, ...(isHttpConfig(http) && http.disable_a2a && { a2a: false }) };
  return { folder, origin: () => origin, isText: false, values: all, problems, warnings };
}

function envSource(cwd: string, env: Env): Source {
  const names = [...OPTION_NAMES, ...Object.keys(RENAMED)];
  // Many tools set an empty variable for "not set".
  const set = names.filter(name => env[envName(name)]);
  const given = Object.fromEntries(set.map(name => [name, env[envName(name)]]));
  const known = [...names, "config"].map(envName);
  const problems: string[] = [];
  for (const name of Object.keys(env)) {
    if (!name.startsWith("DRAGOMAN_") || known.includes(name)) continue;
    // Other programs may have such variables, too. A name that differs in one character is a typing error.
    const meant = findNearest(name, known, 1);
    if (meant !== undefined) problems.push(`There is no variable ${name} (did you mean ${meant}?)`);
  }
  return { folder: cwd, ...withoutFormerNames(given, envName), origin: envName, isText: true, problems };
}

function flagSource(cwd: string, flags: FlagValues): Source {
  const { values, warnings } = withoutFormerNames(flags, flagName);
  const problems = Object.keys(values)
    .filter(key => !isOption(key) && values[key] !== undefined)
    .map(key => `There is no flag ${flagName(key)}${didYouMean(key, OPTION_NAMES)}`);
  return { folder: cwd, values, origin: flagName, isText: true, problems, warnings };
}

const isOption = (key: string): key is OptionName => Object.hasOwn(OPTIONS, key);

/** `spell`: the name of an option in this source. The new name wins where both are set. */
function withoutFormerNames(
  given: Readonly<Record<string, unknown>>,
  spell: (name: string) => string,
  place = "",
): Pick<Source, "values" | "warnings"> {
  const values = { ...given };
  const warnings: string[] = [];
  for (const [former, name] of Object.entries(RENAMED)) {
    if (values[former] === undefined) continue;
    warnings.push(`${place}${spell(former)} is deprecated: use ${spell(name)}`);
    values[name] ??= values[former];
    delete values[former];
  }
  return { values, warnings };
}

// ---- values --------------------------------------------------------------------------------------------------

type Merged = OptionValues & Pick<Settings, "agentsFolder" | "agentsOrigin" | "portChosen" | "warnings">;

type Schemas = typeof import("./schemas.ts").SCHEMAS;

/** The schemas of structured options, and their library: loaded where one of these options is set. */
async function loadSchemas(sources: readonly Source[]): Promise<Schemas | undefined> {
  const names = OPTION_NAMES.filter(name => getOption(name).parse === "schema");
  const isUsed = sources.some(({ values }) => names.some(name => values[name] !== undefined));
  return isUsed ? (await import("./schemas.ts")).SCHEMAS : undefined;
}

async function merge(cwd: string, sources: readonly Source[]): Promise<Merged> {
  const schemas = await loadSchemas(sources);
  const problems = sources.flatMap(source => source.problems);
  const merged: Record<string, unknown> = {
    agentsFolder: cwd,
    agentsOrigin: undefined,
    portChosen: sources.some(({ values }) => values.port !== undefined),
    warnings: sources.flatMap(source => source.warnings),
  };
  for (const name of OPTION_NAMES) {
    merged[name] = resolvePath(name, getOption(name).default, cwd);
    for (const source of sources) {
      if (source.values[name] === undefined) continue;
      merged[name] = resolvePath(name, parseValue(name, source, schemas, problems), source.folder);
      if (name !== "agents") continue;
      merged.agentsFolder = source.folder;
      merged.agentsOrigin = source.origin(name);
    }
  }
  if (problems.length > 0) throw new StartupError(problems.join("\n"), { problems });
  return merged as unknown as Merged;
}

const resolvePath = (name: OptionName, value: unknown, folder: string): unknown =>
  getOption(name).isPath && typeof value === "string" && value !== ":memory:" && !value.includes("://")
    ? resolve(folder, value)
    : value;

function parseValue(
  name: OptionName,
  source: Source,
  schemas: Schemas | undefined,
  problems: string[],
): unknown {
  const { parse, expected, fromText, isSecret } = getOption(name);
  const given = source.values[name];
  const value = source.isText && typeof given === "string" ? fromText(given) : given;
  const origin = source.origin(name);
  if (parse === "schema") {
    const result = (schemas as Schemas)[name as StructuredOption].safeParse(value);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    const isExplained = issue?.code === "custom" && issue.message !== "Invalid input";
    if (issue && (issue.path.length > 0 || isExplained)) {
      const path = [name, ...issue.path].join(".");
      problems.push(`${path}: ${issue.message} (from ${origin}); expected ${expected}`);
      return undefined;
    }
  } else {
    const parsed = parse(value);
    if (parsed !== undefined) return parsed;
  }
  const got = isSecret ? "another value, which is not shown" : show(given);
  problems.push(`${name}: expected ${expected}, got ${got} (from ${origin})`);
  return undefined;
}

const SHOWN_CHARS_MAX = 200;

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  if (!Array.isArray(value)) return "an object";
  const text =
    value.length > 0 && value.every(entry => typeof entry === "string") ? JSON.stringify(value) : "";
  return text !== "" && text.length <= SHOWN_CHARS_MAX ? text : `a list of ${value.length}`;
}
