/** From a graph and options to the definition of an agent. */
import { type AgentDefinition, type AgentTask, agent } from "../../agent/definition.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import {
  checkOptions,
  type Described,
  describedIn,
  RULES,
  type Rule,
  type Rules,
  whole,
  wrong,
} from "../shared/options.ts";
import { createSavers } from "./checkpointer.ts";
import { isReserved } from "./config.ts";
import { type GraphSource, inputKeysOf, needsSaver, toGraph } from "./graph.ts";
import { findLibrary, loadLibrary } from "./library.ts";
import type { Words } from "./output-writer.ts";
import { type GraphSettings, runGraph } from "./run.ts";

export interface LanggraphOptions extends Described {
  /** Nodes whose words are the answer; default: all. */
  readonly nodes?: readonly string[] | undefined;
  /** Whether nodes of subgraphs are heard as they speak; else what a subgraph gives back is said. Default: true. */
  readonly subgraphs?: boolean | undefined;
  /** Between two messages in the answer; default: an empty line. */
  readonly separator?: string | undefined;
  /** Tool calls and their results are told as data; default: false. */
  readonly tools?: boolean | undefined;
  /** Tells which node is at work; a function gives the words for it. Default: false. */
  readonly progress?: boolean | ((node: string) => string | undefined) | undefined;
  /** What becomes of what nodes write with `config.writer`; default: nothing. */
  readonly custom?: "text" | "data" | "status" | ((chunk: unknown) => Words | undefined) | undefined;
  /** The member of the state that is the answer; default: the words of the models, or else what the graph made. */
  readonly output?: string | undefined;
  /** What the graph is given; default: text as `messages`, and the members of data that its input has. */
  readonly input?: ((task: AgentTask) => unknown) | undefined;
  /** Steps after which the graph is stopped; default: LangGraph's. */
  readonly recursionLimit?: number | undefined;
  /** `runtime.context`, and `config.configurable`, for every run. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** Members of a request's metadata that are put there, too; default: none. */
  readonly metadata?: readonly string[] | undefined;
  /** Checkpoints that nothing goes on from are kept, too; default: false. */
  readonly keepCheckpoints?: boolean | undefined;
}

const isFunction = (value: unknown): boolean => typeof value === "function";
const orFunction = ({ expected, is }: Rule): Rule => ({
  expected: `${expected} or a function`,
  is: value => is(value) || isFunction(value),
});
const CUSTOM: Rule = {
  expected: '"text", "data" or "status"',
  is: value => value === "text" || value === "data" || value === "status",
};

const OPTIONS: Rules<LanggraphOptions> = {
  nodes: RULES.list,
  subgraphs: RULES.truth,
  separator: { expected: "a text", is: value => typeof value === "string" },
  tools: RULES.truth,
  progress: orFunction(RULES.truth),
  custom: orFunction(CUSTOM),
  output: RULES.text,
  input: { expected: "a function", is: isFunction },
  recursionLimit: whole(1, 1_000_000),
  context: RULES.object,
  metadata: {
    expected: "a list of names, none of which is LangGraph's own",
    is: value => RULES.list.is(value) && (value as string[]).every(name => !isReserved(name)),
  },
  keepCheckpoints: RULES.truth,
};

/** `file`: from where the graph's packages can be seen. */
export function toDefinition(
  source: GraphSource,
  options: LanggraphOptions,
  file: string | undefined,
): AgentDefinition {
  checkOptions("langgraph()", options, OPTIONS);
  checkPolicy(options);
  // One that is made for each run tells its input, and whether it brings a checkpointer, only then.
  const graph = typeof source === "function" ? undefined : toGraph(source);
  const find = () => findLibrary([...(file === undefined ? [] : [file]), `${process.cwd()}/package.json`]);
  if (graph && needsSaver(graph)) find();
  const savers = once(async () => createSavers(await loadLibrary(find())));
  const made = { source, graph, savers, settings: toSettings(options) };
  const keys = graph && !options.input ? inputKeysOf(graph) : undefined;
  return agent({
    ...(keys && { inputSchema: toSchema(keys) }),
    ...describedIn(options),
    run: (task, ctx) => runGraph(made, task, ctx),
  });
}

/** What would be taken and then not done. */
function checkPolicy({ turns, acceptsWhileWorking }: LanggraphOptions): void {
  if (turns === "parallel")
    throw wrong('langgraph(): turns: "parallel" cannot be: a graph has one state for each context');
  if (acceptsWhileWorking)
    throw wrong("langgraph(): acceptsWhileWorking cannot be: a graph that runs takes no messages");
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

function toCustom(kind: "text" | "data" | "status" | undefined, chunk: unknown): Words | undefined {
  if (kind === undefined || chunk === undefined) return undefined;
  if (kind === "data") return { data: chunk as Json };
  const words = typeof chunk === "string" ? chunk : JSON.stringify(chunk);
  return kind === "text" ? { text: words } : { status: words };
}

const toSchema = (keys: readonly string[]): JsonObject => ({
  type: "object",
  properties: Object.fromEntries(keys.map(key => [key, {}])),
});

/** What was made is kept; what failed is tried again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch(error => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
