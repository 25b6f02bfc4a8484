/** From a message to a turn of a graph: which graph, with which checkpointer, told what. */
import type { AgentTask, Ctx, Said } from "../../agent/definition.ts";
import { FileRefusal } from "../shared/files.ts";
import type { CreateSaver } from "./checkpointer.ts";
import { type ConfigSettings, fitted, threadOf, toConfig } from "./config.ts";
import { type Graph, type GraphSource, type Saver, toGraph } from "./graph.ts";
import { InputRefusal } from "./input.ts";
import { Journal } from "./replay-log.ts";
import { runTurn, type TurnSettings } from "./turn.ts";

export interface GraphSettings extends TurnSettings, ConfigSettings {
  readonly keepCheckpoints: boolean;
}

/** What an agent is made of. */
export interface GraphAgent {
  readonly source: GraphSource;
  /** undefined: the source makes one for each run. */
  readonly graph: Graph | undefined;
  readonly settings: GraphSettings;
  readonly savers: () => Promise<CreateSaver>;
}

export async function* runGraph(
  made: GraphAgent,
  task: AgentTask,
  ctx: Ctx,
): AsyncGenerator<Said, undefined> {
  const { settings } = made;
  try {
    const graph = made.graph ?? (await makeGraph(made, task, ctx));
    const kept = await openKept(made, graph, task, ctx);
    const config = fitted(toConfig(settings, task, ctx, kept), graph);
    // Before the run, which has checkpoints of its own soon.
    await tidy(kept, task, ctx);
    yield* runTurn({ graph, settings, task, ctx, config, kept });
  } catch (error) {
    if (!(error instanceof InputRefusal) && !(error instanceof FileRefusal)) throw error;
    yield ctx.reject(error.message);
  }
}

async function makeGraph({ source, settings }: GraphAgent, task: AgentTask, ctx: Ctx): Promise<Graph> {
  const { configurable, context, metadata } = toConfig(settings, task, ctx, undefined);
  const make = source as (config: object) => unknown;
  return toGraph(await make({ configurable, context, metadata }));
}

interface Kept {
  readonly saver: Saver;
  readonly journal: Journal;
  readonly thread: string;
  /** What is no longer needed when a new turn begins. */
  prune(): Promise<void>;
}

/** A graph that brings a checkpointer keeps it; one that wants none gets none. */
async function openKept(
  { settings, savers }: GraphAgent,
  { checkpointer }: Graph,
  task: AgentTask,
  ctx: Ctx,
): Promise<Kept | undefined> {
  if (checkpointer === false) return undefined;
  const journal = new Journal(ctx.shelf, `${task.id}.${task.turn}`);
  if (typeof checkpointer === "object") {
    const thread = threadOf(task, ctx);
    return { saver: journal.around(checkpointer), journal, thread, prune: async () => {} };
  }
  const saver = (await savers())(ctx.shelf, task.contextId);
  const prune = settings.keepCheckpoints ? async () => {} : () => saver.prune();
  return { saver: journal.around(saver), journal, thread: task.contextId, prune };
}

async function tidy(kept: Kept | undefined, { id, turn }: AgentTask, { attempt, log }: Ctx): Promise<void> {
  if (!kept || attempt > 1) return;
  try {
    await kept.journal.clear();
    if (turn === 1) await kept.prune();
  } catch (error) {
    log.warn({ taskId: id, err: error }, "what earlier turns of a graph left could not be taken away");
  }
}
