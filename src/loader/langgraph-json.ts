/** Reads LangGraph's own config file. What it contains and this server does not support is a problem, with its line. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import { type AgentSpec, toAgentName } from "../agent/definition.ts";
import { type ConfigMessages, ConfigSection, isMembers, type JsonMembers } from "./config-section.ts";
import { findLines } from "./json-lines.ts";
import { type LanggraphServer, readServer } from "./langgraph-server.ts";

export interface LanggraphFile {
  /** Options of the server. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The settings that are no options. */
  readonly server: LanggraphServer;
  /** Variables for agents and their libraries. */
  readonly env: Readonly<Record<string, string>>;
  /** One line each. */
  readonly warnings: readonly string[];
  readonly problems: readonly string[];
  /** The files that were read. */
  readonly files: readonly string[];
}

/** For building images, which has no meaning here. */
const BUILD: readonly string[] = [
  "$schema",
  "_INTERNAL_docker_tag",
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
const UNSUPPORTED: Readonly<Record<string, string>> = {
  encryption: "the data folder is not encrypted by functions of yours; encrypt the disk",
  ui: "UI components are not served",
  ui_config: "UI components are not served",
};

export function readLanggraphFile(file: string): LanggraphFile {
  const { members, text, problems } = readMembers(file);
  const messages: ConfigMessages = { file, lines: findLines(text), problems: [...problems], warnings: [] };
  const config = new ConfigSection(members, "", messages);
  const env = readEnv(config, file);
  const { agents, names } = problems.length > 0 ? NO_GRAPHS : readGraphs(config);
  const { values, server } = readServer(config);
  for (const key of BUILD) config.raw(key);
  config.finish(UNSUPPORTED);
  return {
    values: { agents, ...values },
    server: { ...server, names },
    env: env.variables,
    warnings: messages.warnings,
    problems: messages.problems,
    files: [file, ...env.files],
  };
}

const NO_GRAPHS = { agents: [], names: {} };

function readMembers(file: string): {
  readonly members: JsonMembers;
  readonly text: string;
  readonly problems: readonly string[];
} {
  const text = readFileSync(file, "utf8");
  try {
    const members: unknown = JSON.parse(text);
    if (isMembers(members)) return { members, text, problems: [] };
    return { members: {}, text: "", problems: [`${file}: expected an object`] };
  } catch (error) {
    const { message } = error as Error;
    const line = /\(line (\d+)/.exec(message)?.[1];
    const place = line === undefined ? file : `${file}:${line}`;
    return { members: {}, text: "", problems: [`${place}: invalid JSON: ${message}`] };
  }
}

interface Graphs {
  readonly agents: readonly AgentSpec[];
  /** Names of agents by the names of their graphs in the file, where they differ. */
  readonly names: Readonly<Record<string, string>>;
}

function readGraphs(config: ConfigSection): Graphs {
  const python = config.text("python", "the path of a program or of a virtual environment");
  const graphs = config.section("graphs");
  if (!graphs) {
    if (config.raw("graphs") === undefined)
      config.refuse("graphs", 'is missing: "graphs": { "agent": "./agent.ts:graph" }');
    return NO_GRAPHS;
  }
  const names: Record<string, string> = {};
  const agents = graphs.keys.flatMap(key => {
    const spec = readGraph(graphs, key, python);
    if (spec && spec.name !== key) names[key] = spec.name;
    return spec ?? [];
  });
  if (graphs.keys.length === 0) config.refuse("graphs", "contains no graph");
  return { agents, names };
}

function readGraph(graphs: ConfigSection, key: string, python: string | undefined): AgentSpec | undefined {
  const value = graphs.raw(key);
  if (typeof value !== "string" && !isMembers(value)) {
    graphs.refuse(key, 'must be "./FILE:EXPORT", or an object with such a path');
    return undefined;
  }
  const inner = typeof value === "string" ? undefined : graphs.section(key);
  const path = typeof value === "string" ? value : inner?.text("path");
  const description = inner?.text("description");
  inner?.finish();
  if (path === undefined) graphs.refuse(key, 'must be "./FILE:EXPORT", or an object with such a path');
  else if (!isScript(path) && !isPython(path))
    graphs.refuse(key, `is not supported: ${path} is neither JavaScript, TypeScript nor Python`);
  else {
    const name = toAgentName(key);
    if (name !== key) graphs.warn(key, `is served as "${name}": agent names are in lower case`);
    return {
      runtime: "langgraph",
      name,
      graph: path,
      ...(description !== undefined && { description }),
      ...(isPython(path) && python !== undefined && { python }),
    };
  }
  return undefined;
}

const isScript = (path: string): boolean => /\.[cm]?[jt]s(?::[\w$]+)?$/.test(path);

/** A file, or the name of a module. */
const isPython = (path: string): boolean => /\.py(?::\w+)?$|^[\w.]+:\w+$/.test(path) && !isScript(path);

interface Variables {
  readonly variables: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

const NO_VARIABLES: Variables = { variables: {}, files: [] };

/** `env` is the name of a file with variables, or contains the variables. */
function readEnv(config: ConfigSection, file: string): Variables {
  const env = config.raw("env");
  if (env === undefined) return NO_VARIABLES;
  if (typeof env === "string") return readEnvFile(resolve(dirname(file), env), config);
  if (isMembers(env)) {
    const variables = Object.entries(env).map(([name, value]) => [name, String(value)]);
    return { variables: Object.fromEntries(variables), files: [] };
  }
  config.refuse("env", "must be the name of a file, or an object of variables");
  return NO_VARIABLES;
}

function readEnvFile(file: string, config: ConfigSection): Variables {
  if (existsSync(file))
    return { variables: parseEnv(readFileSync(file, "utf8")) as Record<string, string>, files: [file] };
  config.warn("env", `names a file that does not exist: ${file}`);
  return NO_VARIABLES;
}
