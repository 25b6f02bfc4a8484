/** Prepares a turn of a graph: the graph, its checkpointer and its config. */
import type { AgentOutput, AgentTask, Ctx } from "../../agent/context.ts";
import { FileError } from "../shared/files.ts";
import type { CreateCheckpointer } from "./checkpointer.ts";
import { type ConfigSettings, threadOf, toConfig, withKnownContext } from "./config.ts";
import { type Graph, type GraphConfig, type GraphSource, toGraph } from "./graph.ts";
import { InputError } from "./input.ts";
import { beginTurn } from "./open-questions.ts";
import { ReplayLog } from "./replay-log.ts";
import { readRequest } from "./request.ts";
import { createGraphStore } from "./store.ts";
import { type GraphState, type GraphTurnSettings, runTurn } from "./turn.ts";

export interface GraphSettings extends GraphTurnSettings, ConfigSettings {
  readonly keepCheckpoints: boolean;
}

export interface GraphAgent {
  readonly source: GraphSource;
  /** undefined: `source` is a function that creates a graph for each run. */
  readonly graph: Graph | undefined;
  readonly settings: GraphSettings;
  readonly loadCheckpointer: () => Promise<CreateCheckpointer>;
}

export async function* runGraph(
  agent: GraphAgent,
  task: AgentTask,
  ctx: Ctx,
): AsyncGenerator<AgentOutput, undefined> {
  const { settings } = agent;
  try {
    const graph = agent.graph ?? (await createGraph(agent, task, ctx));
    const state = await openState(agent, graph, task, ctx);
    const config = withStore(withKnownContext(toConfig(settings, task, ctx, state), graph), graph, ctx);
    // Before the run, which creates its own checkpoints.
    const request = readRequest(task);
    const checkpoint = state && (await beginState(state, task, ctx, request !== undefined));
    yield* runTurn({ graph, settings, task, ctx, config, state, request, checkpoint });
  } catch (error) {
    if (!(error instanceof InputError) && !(error instanceof FileError)) throw error;
    yield ctx.reject(error.message);
  }
}

async function createGraph({ source, settings }: GraphAgent, task: AgentTask, ctx: Ctx): Promise<Graph> {
  const { configurable, context, metadata } = toConfig(settings, task, ctx, undefined);
  const create = source as (config: object) => unknown;
  return toGraph(await create({ configurable, context, metadata }));
}

/** A graph that is compiled with a store uses its own. */
const withStore = (config: GraphConfig, { store }: Graph, { items }: Ctx): GraphConfig =>
  store === undefined ? { ...config, store: createGraphStore(items) } : config;

interface PrunableState extends GraphState {
  /** Deletes checkpoints that are no longer needed when a new task begins. */
  prune(): Promise<void>;
}

/** A graph with its own checkpointer keeps it; one with `checkpointer: false` has no state. */
async function openState(
  { settings, loadCheckpointer }: GraphAgent,
  { checkpointer: own }: Graph,
  task: AgentTask,
  ctx: Ctx,
): Promise<PrunableState | undefined> {
  if (own === false) return undefined;
  const replayLog = new ReplayLog(ctx.storage, `${task.id}.${task.turn}`);
  if (typeof own === "object")
    return {
      checkpointer: replayLog.wrapOther(own),
      replayLog,
      thread: threadOf(task, ctx),
      prune: async () => {},
    };
  const checkpointer = (await loadCheckpointer())(ctx.storage, task.contextId);
  const prune = settings.keepCheckpoints ? async () => {} : () => checkpointer.prune();
  return { checkpointer: replayLog.wrap(checkpointer), replayLog, thread: task.contextId, prune };
}

/** In the storage of a context whose history clients of LangGraph read: its checkpoints are kept. */
export const KEEP_KEY = "kept";

/** Returns the checkpoint from which the graph continues; undefined: the newest one. */
async function beginState(
  state: PrunableState,
  task: AgentTask,
  ctx: Ctx,
  isKept: boolean,
): Promise<string | undefined> {
  const open = await beginTurn(ctx.storage, task.id);
  await deleteOutdated(state, task, ctx, isKept || open.hasOthers);
  return open.checkpoint;
}

async function deleteOutdated(
  state: PrunableState,
  { id, turn }: AgentTask,
  { attempt, log, storage }: Ctx,
  isKept: boolean,
): Promise<void> {
  if (attempt > 1) return;
  const onError = (error: unknown): void =>
    log.warn({ taskId: id, err: error }, "outdated checkpoints of a graph could not be deleted");
  try {
    await state.replayLog.clear();
    const isMarked = (await storage.get(KEEP_KEY)) !== undefined;
    // Stored before the first checkpoint, as changes of a context keep their order, and with what the run records now.
    if (isKept && !isMarked) storage.put([{ key: KEEP_KEY, value: true }]).catch(onError);
    if (turn === 1 && !isKept && !isMarked) await state.prune();
  } catch (error) {
    onError(error);
  }
}
