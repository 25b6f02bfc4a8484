/** LangGraph's own config file, as it is: which graphs there are, and what else it says that means something here. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import { type AgentSpec, isAgentName } from "../agent/definition.ts";
import { hint } from "../lib/did-you-mean.ts";

export interface LanggraphFile {
  /** Options, as a config of ours would say them. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Variables for agents and their libraries. */
  readonly env: Readonly<Record<string, string>>;
  /** What is left aside, and what to do about it: one line each. */
  readonly notes: readonly string[];
  readonly problems: readonly string[];
  /** What was read. */
  readonly files: readonly string[];
}

/** Means something to those who build images. */
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
/** Means something to LangGraph's server, and something else or nothing here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  auth: "who may call is said with the option auth, and not by this file",
  checkpointer: "checkpoints lie with the tasks; a graph that is compiled with a checkpointer keeps its own",
  store: "a graph has the store that it is compiled with",
  ui: "there are no components for pages",
  ui_config: "there are no components for pages",
  webhooks: "webhooks are push notifications, which callers ask for",
};
const READ: readonly string[] = ["graphs", "env", "http"];
const HTTP_READ: readonly string[] = ["disable_a2a", "cors"];

export function readLanggraphFile(file: string): LanggraphFile {
  const notes: string[] = [];
  const problems: string[] = [];
  const config = readObject(file, problems);
  const env = readEnv(config.env, file, notes, problems);
  const agents = readGraphs(config.graphs, notes, problems);
  const http = readHttp(config.http, notes, problems);
  for (const key of Object.keys(config)) if (!READ.includes(key)) notes.push(...noteOf(key));
  const told = notes.map(note => `${file}: ${note}`);
  const wrong = problems.map(problem => `${file}: ${problem}`);
  return {
    values: { agents, ...http },
    env: env.variables,
    notes: told,
    problems: wrong,
    files: [file, ...env.files],
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function readObject(file: string, problems: string[]): Readonly<Record<string, unknown>> {
  try {
    const config: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (isObject(config)) return config;
    problems.push("it must hold an object");
  } catch (error) {
    problems.push(`it is no JSON: ${(error as Error).message}`);
  }
  return { graphs: {} };
}

function noteOf(key: string): readonly string[] {
  if (BUILD.includes(key)) return [];
  const reason = ELSEWHERE[key];
  if (reason !== undefined) return [`${key} is left aside: ${reason}`];
  const known = [...READ, ...BUILD, ...Object.keys(ELSEWHERE)];
  return [`${key} is unknown and left aside${hint(key, known)}`];
}

function readGraphs(graphs: unknown, notes: string[], problems: string[]): readonly AgentSpec[] {
  if (!isObject(graphs)) {
    problems.push('graphs is missing: "graphs": { "agent": "./agent.ts:graph" }');
    return [];
  }
  const specs: AgentSpec[] = [];
  for (const [key, value] of Object.entries(graphs)) {
    const { path, description } = isObject(value) ? value : { path: value, description: undefined };
    if (typeof path !== "string")
      problems.push(`graphs.${key} must be "./FILE:EXPORT", or an object with such a path`);
    else if (!isScript(path)) notes.push(`graphs.${key} is left aside: ${notScript(key, path)}`);
    else specs.push(toSpec(key, path, description, notes));
  }
  if (specs.length === 0 && problems.length === 0)
    problems.push(`none of its graphs can be served${notes.map(note => `\n  ${note}`).join("")}`);
  return specs;
}

const isScript = (path: string): boolean => /\.[cm]?[jt]s(?::[\w$]+)?$/.test(path);

const notScript = (key: string, path: string): string =>
  /\.py\b|^[\w.]+:\w+$/.test(path)
    ? `${path} is Python. Start it with langgraph dev, and serve it from there: { runtime: "remote", name: "${key}", card: "http://127.0.0.1:PORT/.well-known/agent-card.json?assistant_id=${key}" } in a dragoman.config.ts`
    : `${path} is no file of JavaScript or TypeScript`;

function toSpec(key: string, graph: string, description: unknown, notes: string[]): AgentSpec {
  const name = isAgentName(key) ? key : toName(key);
  if (name !== key)
    notes.push(`graphs.${key} is served as "${name}": agents have small letters in their names`);
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

/** The name of a file with variables, or the variables themselves. */
function readEnv(env: unknown, file: string, notes: string[], problems: string[]): Variables {
  if (env === undefined) return { variables: {}, files: [] };
  if (typeof env === "string") return readEnvFile(resolve(dirname(file), env), notes);
  if (isObject(env)) {
    const variables = Object.entries(env).map(([name, value]) => [name, String(value)]);
    return { variables: Object.fromEntries(variables), files: [] };
  }
  problems.push("env must be the name of a file, or an object of variables");
  return { variables: {}, files: [] };
}

function readEnvFile(file: string, notes: string[]): Variables {
  if (existsSync(file))
    return { variables: parseEnv(readFileSync(file, "utf8")) as Record<string, string>, files: [file] };
  notes.push(`env: there is no file ${file}`);
  return { variables: {}, files: [] };
}

function readHttp(http: unknown, notes: string[], problems: string[]): Readonly<Record<string, unknown>> {
  if (http === undefined) return {};
  if (!isObject(http)) {
    problems.push("http must be an object");
    return {};
  }
  for (const key of Object.keys(http))
    if (!HTTP_READ.includes(key))
      notes.push(`http.${key} is left aside: it is about routes of LangGraph's server`);
  const { disable_a2a: off, cors } = http;
  if (off !== undefined && typeof off !== "boolean") problems.push("http.disable_a2a must be true or false");
  return { ...(off === true && { langgraph: "off" }), ...readCors(cors, notes, problems) };
}

function readCors(cors: unknown, notes: string[], problems: string[]): Readonly<Record<string, unknown>> {
  if (cors === undefined) return {};
  if (!isObject(cors)) {
    problems.push("http.cors must be an object");
    return {};
  }
  const { allow_origins: origins, ...others } = cors;
  for (const key of Object.keys(others))
    notes.push(`http.cors.${key} is left aside: pages that may call at all may call all there is`);
  return origins === undefined ? {} : { cors: origins };
}
