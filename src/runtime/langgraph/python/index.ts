/** Agents that are graphs in Python: `"graphs": { "agent": "./agent.py:graph" }`. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentOutput, AgentTask, Ctx } from "../../../agent/context.ts";
import { type AgentDefinition, agent, definitionError, SourceError } from "../../../agent/definition.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { LIMITS } from "../../../model/index.ts";
import { RunInterrupted } from "../../../ports/index.ts";
import { checkOptions, milliseconds, type OptionRules, RULES } from "../../shared/options.ts";
import { define, type LanggraphOptions, OPTION_RULES } from "../definition.ts";
import { findPython, type Python } from "./interpreter.ts";
import { createPythonCheckpointer } from "./library.ts";
import { type PythonErrorFacts, WorkerExit } from "./python-error.ts";
import { type PythonFacts, PythonGraph } from "./python-graph.ts";
import { Worker } from "./worker.ts";

export interface PythonOptions extends LanggraphOptions {
  /** The Python program, or the folder of a virtual environment; default: that of the project. */
  readonly python?: string | undefined;
  /** How long importing the graph may take; default: a minute. */
  readonly importMs?: number | undefined;
}

const PYTHON_RULES: OptionRules<PythonOptions> = {
  ...OPTION_RULES,
  python: RULES.string,
  importMs: milliseconds(1),
};

/** A graph as the config names it. */
export interface PythonReference {
  /** A file, or the name of a module. */
  readonly target: string;
  readonly name: string;
}

/** Parses `./agent.py:graph` or `package.module:graph`; without a name, `graph`. */
export function toReference(text: string, { folder }: PythonEnvironment): PythonReference {
  const [, target = text, name = "graph"] = /^(.+?)(?::(\w+))?$/.exec(text) ?? [];
  if (!target.endsWith(".py")) return { target, name };
  const file = resolve(folder, target);
  if (!existsSync(file)) throw new SourceError("File not found", { file, hint: "Check the spelling" });
  return { target: file, name };
}

export interface PythonEnvironment {
  /** The folder of the config: the working directory of the graph. */
  readonly folder: string;
  /** The environment of the server, which the graph gets as a graph in this process would. */
  readonly variables: Readonly<Record<string, string>>;
}

const IMPORT_MS = 60_000;
const IDLE_MS = 10 * 60_000;
const GRACE_MS = 2_000;
/** Attempts of a turn in which the process of the graph may end, for example for lack of memory. */
const ATTEMPTS_MAX = 3;
const BRIDGE = fileURLToPath(new URL("bridge.py", import.meta.url));

/** Imports the graph in a Python process; throws a `SourceError` if it does not load. */
export async function pythonGraph(
  reference: PythonReference,
  options: PythonOptions,
  environment: PythonEnvironment,
): Promise<{ readonly definition: AgentDefinition; readonly files: readonly string[] }> {
  checkOptions("langgraph()", options, PYTHON_RULES);
  const { python: given, importMs = IMPORT_MS, ...common } = options;
  const python = requirePython(reference, given, environment);
  const worker = createWorker(python, reference, importMs, environment);
  const { facts, files } = await load(worker, python, reference, importMs);
  // The option `output` may name a member that the output schema does not have.
  const graph = new PythonGraph(worker, facts, common.output === undefined);
  const loadCheckpointer = async () => createPythonCheckpointer;
  const definition = define({ source: graph, graph, loadCheckpointer }, common);
  const schema = facts.inputSchema;
  return {
    definition: agent({
      ...definition,
      ...(schema && !common.inputSchema && { inputSchema: withoutMessages(schema) }),
      run: (task, ctx) => run(worker, definition, task, ctx),
    }),
    files,
  };
}

/** The schema of LangChain's messages is longer than that of any graph; the server describes messages itself. */
function withoutMessages(schema: JsonObject): JsonObject {
  const { $defs, ...rest } = schema;
  const properties = (rest.properties ?? {}) as JsonObject;
  if (!Object.hasOwn(properties, "messages")) return schema;
  const slim = { ...rest, properties: { ...properties, messages: {} } };
  return JSON.stringify(slim).includes("#/$defs/") ? { ...slim, ...($defs && { $defs }) } : slim;
}

async function* run(
  worker: Worker,
  definition: AgentDefinition,
  task: AgentTask,
  ctx: Ctx,
): AsyncGenerator<AgentOutput> {
  worker.onPrinted = line => ctx.log.info({ agent: definition.name, from: "python" }, line);
  try {
    yield* definition.run(task, ctx) as AsyncIterable<AgentOutput>;
  } catch (error) {
    if (!(error instanceof WorkerExit) || ctx.attempt >= ATTEMPTS_MAX) throw error;
    ctx.log.warn(
      { taskId: task.id, err: error },
      "the Python process of a graph has ended: the run is resumed",
    );
    throw new RunInterrupted(error.message, { cause: error });
  }
}

function requirePython(
  { target }: PythonReference,
  given: string | undefined,
  { folder, variables }: PythonEnvironment,
): Python {
  const file = target.endsWith(".py") ? target : undefined;
  const python = findPython({ given, file, folder, variables });
  if (python) return python;
  throw definitionError(
    given === undefined
      ? `Python was not found: install Python 3.10 or newer, then: cd ${folder} && python3 -m venv .venv && .venv/bin/pip install langgraph`
      : `python: no program and no virtual environment: ${given}; create it: cd ${folder} && python3 -m venv ${given} && ${given}/bin/pip install langgraph`,
  );
}

function createWorker(
  python: Python,
  { target, name }: PythonReference,
  importMs: number,
  { folder, variables }: PythonEnvironment,
): Worker {
  const [program, ...more] = python.argv;
  const lineBytesMax = LIMITS.graphLineBytesMax;
  return new Worker({
    command: {
      argv: [program, ...more, BRIDGE, target, name, String(lineBytesMax)],
      folder,
      env: { PYTHONUNBUFFERED: "1", PYTHONUTF8: "1", ...variables },
      graceMs: GRACE_MS,
      lineBytesMax,
    },
    importMs,
    idleMs: IDLE_MS,
  });
}

async function load(
  worker: Worker,
  python: Python,
  { target }: PythonReference,
  importMs: number,
): Promise<{ readonly facts: PythonFacts; readonly files: readonly string[] }> {
  const greeting = await worker.greeting().catch(error => {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = `Move slow work out of the module, or set importMs (now ${importMs})`;
    throw new SourceError(reason, {
      file: target,
      hint: /within/.test(reason) ? hint : undefined,
      cause: error,
    });
  });
  if (greeting.type === "ready")
    return { facts: greeting.facts as unknown as PythonFacts, files: greeting.files };
  throw toSourceError(greeting.error, greeting.missing, python, target);
}

function toSourceError(
  { name, message, module, file, line }: PythonErrorFacts,
  missing: string | undefined,
  python: Python,
  target: string,
): SourceError {
  if (missing !== undefined) {
    const reason = `${missing} is not installed for ${python.argv.join(" ")}`;
    return new SourceError(reason, { file: target, hint: python.install(missing) });
  }
  const [root] = module?.split(".") ?? [];
  const hint = root === undefined ? undefined : python.install(root.replaceAll("_", "-"));
  return new SourceError(`${name}: ${message}`, { file: file ?? target, line, hint });
}
