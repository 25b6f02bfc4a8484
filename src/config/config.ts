/** One typed value from defaults, config file, environment and command line, each over the one before. */
import { existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { hint, nearest } from "../lib/did-you-mean.ts";
import { importFile } from "../loader/import-file.ts";
import { readLanggraphFile } from "../loader/langgraph-json.ts";
import type { AccessConfig } from "./auth-options.ts";
import {
  envName,
  flagName,
  HTTP,
  type HttpConfig,
  OPTION_NAMES,
  OPTIONS,
  type OptionName,
  type Options,
} from "./options.ts";
import { type OtelSettings, readOtel } from "./otel.ts";

export interface Settings extends Options {
  /** The port was set by flag, environment or config; false: the default is a preference, and the next free port will do. */
  readonly portChosen: boolean;
  /** Where relative names in `agents` start. */
  readonly agentsFolder: string;
  /** The config file, if there is one, and the files that it imports. */
  readonly configFiles: readonly string[];
  /** Where traces go, as the environment says it. */
  readonly otel: OtelSettings | undefined;
  /** What of the config file means nothing here: for whoever starts the server. */
  readonly notes: readonly string[];
}

/** What a `dragoman.config.ts` may say. */
export type Config = AccessConfig & {
  readonly [K in Exclude<OptionName, keyof AccessConfig>]?: Options[K] | undefined;
} & {
  readonly http?: HttpConfig | undefined;
};

/** Types a config file: `export default defineConfig({ … })`. */
export const defineConfig = (config: Config): Config => config;

/** What the command line said: values, or their texts. `agents` are the words without a flag. */
export type Flags = { readonly [K in OptionName | "config"]?: unknown };
export type Env = Readonly<Record<string, string | undefined>>;

/** Everything that is wrong with what the server was told, one line each. */
export class ConfigFailure extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "ConfigFailure";
    this.problems = problems;
  }
}

export interface SettingsParts {
  readonly cwd: string;
  readonly flags?: Flags;
  readonly env?: Env;
  /** Above 0: the config file is imported afresh, once for each number. */
  readonly generation?: number;
}

interface Source {
  /** Where relative paths start. */
  readonly folder: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** Where an option comes from, for errors. */
  origin(option: OptionName): string;
  /** Numbers and truths are written as text there. */
  readonly texts: boolean;
  /** What is wrong with it as a whole. */
  readonly problems: readonly string[];
}

export async function readSettings(parts: SettingsParts): Promise<Settings> {
  const { cwd, flags = {} } = parts;
  const words = splitWords(flags.agents);
  const named = [flags.config, words.config, (parts.env ?? process.env)[envName("config")]];
  const file = findConfigFile(cwd, named, words.agents === undefined);
  const read = file === undefined ? undefined : await readConfig(file, parts.generation ?? 0);
  const env = parts.env ? { ...read?.env, ...parts.env } : bring(read?.env ?? {});
  const sources = [
    ...(read ? [read.source] : []),
    envSource(cwd, env),
    flagSource(cwd, { ...flags, agents: words.agents }),
  ];
  const { files: configFiles = [], notes = [] } = read ?? {};
  return { ...merge(cwd, sources), configFiles, notes, otel: readOtel(env) };
}

/** What a config file says; `env`: the variables that it brings. */
interface ReadConfig {
  readonly source: Source;
  readonly files: readonly string[];
  readonly notes: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

async function readConfig(file: string, generation: number): Promise<ReadConfig> {
  if (file.endsWith(".json")) {
    const { values, problems, ...more } = readLanggraphFile(file);
    return { ...more, source: { folder: dirname(file), origin: () => file, texts: false, values, problems } };
  }
  const { module, files } = await importFile(file, generation);
  return { source: fileSource(file, module.default), files, notes: [], env: {} };
}

/** Gives variables to agents and their libraries, which read the environment themselves. What is there already counts more. */
function bring(variables: Readonly<Record<string, string>>): Env {
  for (const [name, value] of Object.entries(variables)) process.env[name] ??= value;
  return process.env;
}

/** For a program that has the config in hand: neither a file nor the environment is looked at. */
export const toSettings = (config: Config, cwd: string): Settings => ({
  ...merge(cwd, [configSource(config, "createHandler", cwd)]),
  configFiles: [],
  otel: undefined,
  notes: [],
});

/** For agents whose definitions name a variable: the value of a key does not stand in a config. */
export const readVariable = (name: string): string | undefined => process.env[name];

/** Ours, or LangGraph's, whatever it is called. */
const CONFIG_FILE = /^dragoman\.config\.m?[jt]s$|\.json$/;
const LANGGRAPH_NAME = "langgraph.json";
const CONFIG_NAMES = ["ts", "mts", "js", "mjs"].map(extension => `dragoman.config.${extension}`);

/** Words without a flag: agents, and perhaps a config file. */
function splitWords(words: unknown): { readonly agents: unknown; readonly config?: string } {
  if (!Array.isArray(words)) return { agents: words };
  const config = words.find(word => typeof word === "string" && CONFIG_FILE.test(basename(word)));
  const agents = words.filter(word => word !== config);
  return { agents: agents.length > 0 ? agents : undefined, config };
}

/** `isBare`: no agents are named either, so that those of a LangGraph project may be meant. */
function findConfigFile(cwd: string, named: readonly unknown[], isBare: boolean): string | undefined {
  const name = named.find(one => typeof one === "string" && one !== "") as string | undefined;
  const usual = isBare ? [...CONFIG_NAMES, LANGGRAPH_NAME] : CONFIG_NAMES;
  if (name === undefined) return usual.map(one => resolve(cwd, one)).find(existsSync);
  const file = resolve(cwd, name);
  if (!existsSync(file)) throw new ConfigFailure([`There is no config file ${file}`]);
  return file;
}

function fileSource(file: string, exported: unknown): Source {
  if (typeof exported === "object" && exported !== null && !Array.isArray(exported))
    return configSource(exported, file, dirname(file));
  const problem = `${file} must \`export default defineConfig({ … })\`, but its default export is ${show(exported)}`;
  return { folder: dirname(file), origin: () => file, texts: false, values: {}, problems: [problem] };
}

/** `whence`: where it was written down. */
function configSource(config: object, whence: string, folder: string): Source {
  const source = { folder, origin: () => whence, texts: false };
  const { http, ...values } = config as Record<string, unknown>;
  const unknown = Object.keys(values).filter(key => !isOption(key));
  const problems = unknown.map(key => `${whence}: there is no option "${key}"${hint(key, OPTION_NAMES)}`);
  if (http === undefined) return { ...source, values, problems };
  const read = HTTP.schema.safeParse(http);
  if (!read.success) problems.push(`http: expected ${HTTP.expected}, got ${show(http)} (from ${whence})`);
  return { ...source, values: read.data?.disable_a2a ? { ...values, langgraph: "off" } : values, problems };
}

function envSource(cwd: string, env: Env): Source {
  const values: Record<string, unknown> = {};
  // An empty variable is how many tools say "not set".
  for (const name of OPTION_NAMES) values[name] = env[envName(name)] || undefined;
  const known = [...OPTION_NAMES, "config"].map(envName);
  const problems: string[] = [];
  for (const name of Object.keys(env)) {
    if (!name.startsWith("DRAGOMAN_") || known.includes(name)) continue;
    // Other programs may have variables of this kind; what is one slip away from ours is none of theirs.
    const meant = nearest(name, known, 1);
    if (meant !== undefined) problems.push(`There is no variable ${name} (did you mean ${meant}?)`);
  }
  return { folder: cwd, values, origin: envName, texts: true, problems };
}

function flagSource(cwd: string, flags: Flags): Source {
  const unknown = Object.keys(flags).filter(key => !isOption(key) && key !== "config");
  const problems = unknown.map(key => `There is no flag ${flagName(key)}${hint(key, OPTION_NAMES)}`);
  return { folder: cwd, values: flags, origin: flagName, texts: true, problems };
}

const isOption = (key: string): key is OptionName => Object.hasOwn(OPTIONS, key);

type Merged = Options & Pick<Settings, "agentsFolder" | "portChosen">;

function merge(cwd: string, sources: readonly Source[]): Merged {
  const problems = sources.flatMap(source => source.problems);
  const portChosen = sources.some(({ values }) => values.port !== undefined);
  const merged: Record<string, unknown> = { agentsFolder: cwd, portChosen };
  for (const name of OPTION_NAMES) {
    merged[name] = placed(name, OPTIONS[name].fallback, cwd);
    for (const source of sources) {
      if (source.values[name] === undefined) continue;
      merged[name] = placed(name, check(name, source, problems), source.folder);
      if (name === "agents") merged.agentsFolder = source.folder;
    }
  }
  if (problems.length > 0) throw new ConfigFailure(problems);
  return merged as unknown as Merged;
}

const PATHS: ReadonlySet<OptionName> = new Set<OptionName>([
  "data",
  "tlsCert",
  "tlsKey",
  "tlsClientCa",
  "keyFile",
]);

/** A relative path starts where it was written down. */
const placed = (name: OptionName, value: unknown, folder: string): unknown =>
  PATHS.has(name) && typeof value === "string" && value !== ":memory:" && !value.includes("://")
    ? resolve(folder, value)
    : value;

function check(name: OptionName, source: Source, problems: string[]): unknown {
  const { schema, expected, fromText, secret } = OPTIONS[name];
  const given = source.values[name];
  const result = schema.safeParse(source.texts && typeof given === "string" ? fromText(given) : given);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  // Where in a structure it is wrong, and why, and not only that it is.
  const isTold = issue?.code === "custom" && issue.message !== "Invalid input";
  if (issue && (issue.path.length > 0 || isTold)) {
    const where = [name, ...issue.path].join(".");
    problems.push(`${where}: ${issue.message} (from ${source.origin(name)}); expected ${expected}`);
    return undefined;
  }
  const got = secret ? "something else, which is not shown" : show(given);
  problems.push(`${name}: expected ${expected}, got ${got} (from ${source.origin(name)})`);
  return undefined;
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
