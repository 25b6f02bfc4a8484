/** Creates the definition of an agent from a graph. */
import type { AgentTask } from "../../agent/context.ts";
import { type AgentDefinition, agent, definitionError } from "../../agent/definition.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import {
  type CommonOptions,
  checkOptions,
  integer,
  type OptionRule,
  type OptionRules,
  pickCommonOptions,
  RULES,
} from "../shared/options.ts";
import { createCheckpointerFactory } from "./checkpointer.ts";
import { isReserved } from "./config.ts";
import { type GraphSource, inputKeysOf, needsCheckpointer, toGraph } from "./graph.ts";
import { createGraphAccess } from "./graph-access.ts";
import { findLibrary, loadLibrary } from "./library.ts";
import { type GraphAgent, type GraphSettings, runGraph } from "./run.ts";
import type { GraphOutput } from "./task-output.ts";

export interface LanggraphOptions extends CommonOptions {
  /** The nodes whose text is the response; default: all. */
  readonly nodes?: readonly string[] | undefined;
  /** Whether the text of nodes in subgraphs is streamed; otherwise only the result of a subgraph. Default: true. */
  readonly subgraphs?: boolean | undefined;
  /** Between two messages in the response; default: an empty line. */
  readonly separator?: string | undefined;
  /** Whether callers get tool calls and their results, as data; default: false. */
  readonly tools?: boolean | undefined;
  /** Whether each started node is reported as a status; a function returns its text. Default: false. */
  readonly progress?: boolean | ((node: string) => string | undefined) | undefined;
  /** How values that nodes write with `config.writer` are output; default: not at all. */
  readonly custom?: "text" | "data" | "status" | ((chunk: unknown) => GraphOutput | undefined) | undefined;
  /** The member of the state that is the response; default: the text of the models, or else the final state. */
  readonly output?: string | undefined;
  /** Returns the input of the graph; default: text as `messages`, and the members of data that its input has. */
  readonly input?: ((task: AgentTask) => unknown) | undefined;
  /** The number of steps after which the graph is stopped; default: LangGraph's. */
  readonly recursionLimit?: number | undefined;
  /** `runtime.context` and `config.configurable` of every run. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** Members of the request metadata that are added to it; default: none. */
  readonly metadata?: readonly string[] | undefined;
  /** Whether outdated checkpoints are kept; default: false. */
  readonly keepCheckpoints?: boolean | undefined;
}

const orFunction = ({ expected, is }: OptionRule): OptionRule => ({
  expected: `${expected} or a function`,
  is: value => is(value) || RULES.function.is(value),
});
const CUSTOM: OptionRule = {
  expected: '"text", "data" or "status"',
  is: value => value === "text" || value === "data" || value === "status",
};

export const OPTION_RULES: OptionRules<LanggraphOptions> = {
  nodes: RULES.stringList,
  subgraphs: RULES.boolean,
  separator: RULES.stringOrEmpty,
  tools: RULES.boolean,
  progress: orFunction(RULES.boolean),
  custom: orFunction(CUSTOM),
  output: RULES.string,
  input: RULES.function,
  recursionLimit: integer(1, 1_000_000),
  context: RULES.object,
  metadata: {
    expected: "an array of names that LangGraph does not reserve",
    is: value => RULES.stringList.is(value) && (value as string[]).every(name => !isReserved(name)),
  },
  keepCheckpoints: RULES.boolean,
};

/** `file`: the packages of the graph are resolved from there. */
export function toDefinition(
  source: GraphSource,
  options: LanggraphOptions,
  file: string | undefined,
): AgentDefinition {
  checkOptions("langgraph()", options, OPTION_RULES);
  // The input and checkpointer of a graph that is created for each run are not known yet.
  const graph = typeof source === "function" ? undefined : toGraph(source);
  const find = () => findLibrary([...(file === undefined ? [] : [file]), `${process.cwd()}/package.json`]);
  if (graph && needsCheckpointer(graph)) find();
  const loadCheckpointer = once(async () => createCheckpointerFactory(await loadLibrary(find())));
  return agent(define({ source, graph, loadCheckpointer }, options));
}

/** Like `toDefinition`, for a graph whose library is known. */
export function define(graphParts: Omit<GraphAgent, "settings">, options: LanggraphOptions): AgentDefinition {
  checkPolicy(options);
  const { graph } = graphParts;
  const parts = { ...graphParts, settings: toSettings(options) };
  const keys = graph && !options.input ? inputKeysOf(graph) : undefined;
  return {
    ...(keys && { inputSchema: toSchema(keys) }),
    ...pickCommonOptions(options),
    graph: createGraphAccess(parts),
    run: (task, ctx) => runGraph(parts, task, ctx),
  };
}

/** Options of a definition that a graph cannot support. */
function checkPolicy({ turns, acceptsWhileWorking }: LanggraphOptions): void {
  if (turns === "parallel")
    throw definitionError(
      'langgraph(): turns: "parallel" is not supported: a graph has one state per context',
    );
  if (acceptsWhileWorking)
    throw definitionError(
      "langgraph(): acceptsWhileWorking is not supported: a running graph accepts no messages",
    );
}

function toSettings(options: LanggraphOptions): GraphSettings {
  const { progress = false, custom } = options;
  return {
    nodes: options.nodes,
    subgraphs: options.subgraphs ?? true,
    separator: options.separator ?? "\n\n",
    tools: options.tools ?? false,
    progress: typeof progress === "function" ? progress : node => (progress ? node : undefined),
    custom: typeof custom === "function" ? custom : chunk => toCustom(custom, chunk),
    output: options.output,
    input: options.input,
    recursionLimit: options.recursionLimit,
    context: options.context ?? {},
    metadata: options.metadata ?? [],
    keepCheckpoints: options.keepCheckpoints ?? false,
  };
}

function toCustom(kind: "text" | "data" | "status" | undefined, chunk: unknown): GraphOutput | undefined {
  if (kind === undefined || chunk === undefined) return undefined;
  if (kind === "data") return { data: chunk as Json };
  const text = typeof chunk === "string" ? chunk : JSON.stringify(chunk);
  return kind === "text" ? { text } : { status: text };
}

const toSchema = (keys: readonly string[]): JsonObject => ({
  type: "object",
  properties: Object.fromEntries(keys.map(key => [key, {}])),
});

/** Caches the result; an error is not cached. */
function once<T>(create: () => Promise<T>): () => Promise<T> {
  let cached: Promise<T> | undefined;
  return () => {
    cached ??= create().catch(error => {
      cached = undefined;
      throw error;
    });
    return cached;
  };
}
