/** Reads LangGraph's own config file: its graphs, its variables and its HTTP settings. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import { type AgentSpec, isAgentName } from "../agent/definition.ts";
import { didYouMean } from "../lib/did-you-mean.ts";

export interface LanggraphFile {
  /** Options of the server. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Variables for agents and their libraries. */
  readonly env: Readonly<Record<string, string>>;
  /** Ignored entries, one line each. */
  readonly warnings: readonly string[];
  readonly problems: readonly string[];
  /** The files that were read. */
  readonly files: readonly string[];
}

/** For building images: ignored without a warning. */
const BUILD: readonly string[] = [
  "$schema",
  "api_version",
  "base_image",
  "dependencies",
  "dockerfile_lines",
  "image_distro",
  "keep_pkg_tools",
  "node_version",
  "pip_config_file",
  "pip_installer",
  "python_version",
  "source",
];
/** Settings of LangGraph's server, and why they are ignored here. */
const IGNORED: Readonly<Record<string, string>> = {
  auth: "set the option auth instead",
  checkpointer:
    "checkpoints are stored with the tasks; a graph that is compiled with a checkpointer uses its own",
  store: "a graph uses the store that it is compiled with",
  ui: "UI components are not supported",
  ui_config: "UI components are not supported",
  webhooks: "callers configure webhooks as push notifications",
};
const KNOWN: readonly string[] = ["graphs", "env", "http", "python"];
const HTTP_KNOWN: readonly string[] = ["disable_a2a", "cors"];

export function readLanggraphFile(file: string): LanggraphFile {
  const warnings: string[] = [];
  const problems: string[] = [];
  const config = readObject(file, problems);
  if (config.python !== undefined && typeof config.python !== "string")
    problems.push("python must be the path of a program or of a virtual environment");
  const env = readEnv(config.env, file, warnings, problems);
  const python = typeof config.python === "string" ? { python: config.python } : {};
  const agents = readGraphs(config.graphs, python, warnings, problems);
  const http = readHttp(config.http, warnings, problems);
  for (const key of Object.keys(config)) if (!KNOWN.includes(key)) warnings.push(...toWarnings(key));
  const withFile = (lines: readonly string[]) => lines.map(line => `${file}: ${line}`);
  return {
    values: { agents, ...http },
    env: env.variables,
    warnings: withFile(warnings),
    problems: withFile(problems),
    files: [file, ...env.files],
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function readObject(file: string, problems: string[]): Readonly<Record<string, unknown>> {
  try {
    const config: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (isObject(config)) return config;
    problems.push("expected an object");
  } catch (error) {
    problems.push(`invalid JSON: ${(error as Error).message}`);
  }
  return { graphs: {} };
}

function toWarnings(key: string): readonly string[] {
  if (BUILD.includes(key)) return [];
  const reason = IGNORED[key];
  if (reason !== undefined) return [`${key} is ignored: ${reason}`];
  const known = [...KNOWN, ...BUILD, ...Object.keys(IGNORED)];
  return [`${key} is unknown and ignored${didYouMean(key, known)}`];
}

/** `python`: the option of the graphs in Python. */
function readGraphs(
  graphs: unknown,
  python: { readonly python?: string },
  warnings: string[],
  problems: string[],
): readonly AgentSpec[] {
  if (!isObject(graphs)) {
    problems.push('graphs is missing: "graphs": { "agent": "./agent.ts:graph" }');
    return [];
  }
  const specs: AgentSpec[] = [];
  for (const [key, value] of Object.entries(graphs)) {
    const { path, description } = isObject(value) ? value : { path: value, description: undefined };
    if (typeof path !== "string")
      problems.push(`graphs.${key} must be "./FILE:EXPORT", or an object with such a path`);
    else if (!isScript(path) && !isPython(path))
      warnings.push(`graphs.${key} is ignored: ${path} is neither JavaScript, TypeScript nor Python`);
    else specs.push({ ...toSpec(key, path, description, warnings), ...(isPython(path) && python) });
  }
  if (specs.length === 0 && problems.length === 0)
    problems.push(`no graph can be served${warnings.map(warning => `\n  ${warning}`).join("")}`);
  return specs;
}

const isScript = (path: string): boolean => /\.[cm]?[jt]s(?::[\w$]+)?$/.test(path);

/** A file, or the name of a module. */
const isPython = (path: string): boolean => /\.py(?::\w+)?$|^[\w.]+:\w+$/.test(path) && !isScript(path);

function toSpec(key: string, graph: string, description: unknown, warnings: string[]): AgentSpec {
  const name = isAgentName(key) ? key : toName(key);
  if (name !== key) warnings.push(`graphs.${key} is served as "${name}": agent names are in lower case`);
  return { runtime: "langgraph", name, graph, ...(typeof description === "string" && { description }) };
}

/** `myAgent` is `my-agent`. */
const toName = (key: string): string =>
  key
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[^a-z0-9]+|-+$/g, "")
    .slice(0, 64);

interface Variables {
  readonly variables: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

/** `env` is the name of a file with variables, or contains the variables. */
function readEnv(env: unknown, file: string, warnings: string[], problems: string[]): Variables {
  if (env === undefined) return { variables: {}, files: [] };
  if (typeof env === "string") return readEnvFile(resolve(dirname(file), env), warnings);
  if (isObject(env)) {
    const variables = Object.entries(env).map(([name, value]) => [name, String(value)]);
    return { variables: Object.fromEntries(variables), files: [] };
  }
  problems.push("env must be the name of a file, or an object of variables");
  return { variables: {}, files: [] };
}

function readEnvFile(file: string, warnings: string[]): Variables {
  if (existsSync(file))
    return { variables: parseEnv(readFileSync(file, "utf8")) as Record<string, string>, files: [file] };
  warnings.push(`env: file not found: ${file}`);
  return { variables: {}, files: [] };
}

function readHttp(http: unknown, warnings: string[], problems: string[]): Readonly<Record<string, unknown>> {
  if (http === undefined) return {};
  if (!isObject(http)) {
    problems.push("http must be an object");
    return {};
  }
  for (const key of Object.keys(http))
    if (!HTTP_KNOWN.includes(key))
      warnings.push(`http.${key} is ignored: it configures routes of LangGraph's server`);
  const { disable_a2a: off, cors } = http;
  if (off !== undefined && typeof off !== "boolean") problems.push("http.disable_a2a must be true or false");
  return { ...(off === true && { langgraph: "off" }), ...readCors(cors, warnings, problems) };
}

function readCors(cors: unknown, warnings: string[], problems: string[]): Readonly<Record<string, unknown>> {
  if (cors === undefined) return {};
  if (!isObject(cors)) {
    problems.push("http.cors must be an object");
    return {};
  }
  const { allow_origins: origins, ...others } = cors;
  for (const key of Object.keys(others))
    warnings.push(`http.cors.${key} is ignored: allowed origins may call every route`);
  return origins === undefined ? {} : { cors: origins };
}
