/** One turn of an agent that is a graph. */
import type { AgentTask, Ctx, Said } from "../../agent/definition.ts";
import type { Json } from "../../lib/json.ts";
import { withCause } from "../../model/index.ts";
import type { AgentEvent } from "../../ports/index.ts";
import { relay } from "../shared/relay.ts";
import {
  type Graph,
  type GraphConfig,
  type Interrupt,
  inputKeysOf,
  type Saver,
  type Snapshot,
} from "./graph.ts";
import { checkData, toInput } from "./input.ts";
import { Listener, type ListenerSettings } from "./listener.ts";
import { Voice } from "./output-writer.ts";
import { toPause, toQuestions } from "./questions.ts";
import type { Journal } from "./replay-log.ts";
import { gaveUp, isAtBreakpoint, pendingIn, refusedInput, resultIn } from "./state.ts";

export interface TurnSettings extends ListenerSettings {
  readonly separator: string;
  /** The member of the state that is the answer. */
  readonly output: string | undefined;
  readonly input: ((task: AgentTask) => unknown) | undefined;
}

export interface TurnParts {
  readonly graph: Graph;
  readonly settings: TurnSettings;
  readonly task: AgentTask;
  readonly ctx: Ctx;
  readonly config: GraphConfig;
  /** undefined: the graph wants no checkpoints, so it begins anew after a crash. */
  readonly kept: { readonly saver: Saver; readonly journal: Journal; readonly thread: string } | undefined;
}

/** Where the graph begins: with an input, or where it stopped (null). */
interface Start {
  readonly input: unknown;
}

export async function* runTurn(parts: TurnParts): AsyncGenerator<Said, undefined> {
  const { graph, settings, ctx, config, kept } = parts;
  const voice = new Voice(ctx, settings.separator);
  const listener = new Listener(settings, heard => kept?.journal.hear(heard));
  const before = kept && (await graph.getState(config));
  const past = await lookBack(parts, before);
  for (const heard of past.heard) {
    listener.recall(heard);
    yield* voice.say(heard.words);
  }
  if (past.reached && past.reached.next.length === 0)
    return yield* conclude(parts, voice, past.reached.values);
  const start = past.reached ? await goOn(parts, past.reached) : await begin(parts, before);
  if ("input" in start) yield* stream(parts, voice, listener, start.input);
  else yield start;
}

/** How far an earlier attempt of this turn came, and what it said on the way; `reached` undefined: it did not begin. */
async function lookBack({ ctx, kept }: TurnParts, before: Snapshot | undefined) {
  if (!kept || !before) return { heard: [], reached: undefined };
  const found = before.config.configurable?.checkpoint_id ?? null;
  // On record, so that every attempt of this turn knows where it began; and what is said again is known to be the same.
  const began = await ctx.step("where the graph stood", () => found);
  if (ctx.attempt === 1) return { heard: [], reached: undefined };
  const heard = await kept.journal.read(kept.saver, kept.thread);
  return { heard, reached: found === began ? undefined : before };
}

/** After a crash: the graph has taken its input, so it goes on where it stopped. */
async function goOn(parts: TurnParts, reached: Snapshot): Promise<Start | AgentEvent> {
  const { graph, task, config, kept } = parts;
  const waits = kept && (await isAtBreakpoint(graph, reached.next, kept.saver, config));
  return waits ? toPause(task, reached.next) : { input: null };
}

async function begin(parts: TurnParts, before: Snapshot | undefined): Promise<Start | AgentEvent> {
  const { graph, settings, task, ctx, kept } = parts;
  if (task.turn > 1 && before && kept)
    return answer(parts, before, await pendingIn(before, kept.saver, parts.config));
  if (settings.input) return { input: settings.input(task) };
  return { input: await toInput(task, ctx, inputKeysOf(graph)) };
}

/** A graph that asked gets its answers; as long as some are missing, it is not woken up. */
function answer(
  { task, ctx }: TurnParts,
  before: Snapshot,
  pending: readonly Interrupt[],
): Start | AgentEvent {
  if (pending.length === 0) {
    if (before.next.length > 0) return { input: null };
    // Another message of the context came before the answer, or a checkpointer that the graph brought lost it.
    return ctx.fail("This question is no longer open: the graph has gone on without an answer");
  }
  const isAnswered = ({ id = "" }: Interrupt): boolean => Object.hasOwn(task.answers, id);
  if (!pending.every(isAnswered)) return toQuestions(task, pending);
  checkData(task.answers as Json);
  const resume = pending.map(({ id = "" }): [string, Json] => [id, task.answers[id] as Json]);
  // As a map by ids even if there is one: an answer such as "" or false would not count otherwise.
  return { input: { lg_name: "Command", resume: Object.fromEntries(resume), goto: [] } };
}

async function* stream(
  parts: TurnParts,
  voice: Voice,
  listener: Listener,
  input: unknown,
): AsyncGenerator<Said, undefined> {
  const { graph, task, ctx, config, kept } = parts;
  try {
    yield* relay(async say => {
      listener.onWords = words => {
        for (const said of voice.say(words)) say(said).catch(() => {});
      };
      for await (const chunk of await graph.stream(input, config)) listener.listen(chunk);
    });
  } catch (error) {
    const words = gaveUp(error);
    if (words === undefined) throw (!listener.hasBegun && refusedInput(error)) || error;
    ctx.log.warn({ taskId: task.id, err: error }, "a graph did not come to its end");
    return yield withCause(ctx.fail(words), error);
  }
  if (!listener.waits) return yield* conclude(parts, voice, listener.values);
  // Asked of the state, which has them in the order of the graph.
  const state = await graph.getState(config);
  const pending = kept ? await pendingIn(state, kept.saver, config) : [];
  yield pending.length > 0 ? toQuestions(task, pending) : toPause(task, state.next);
}

/** A graph that said nothing answers with what it made. */
function* conclude(
  { graph, settings }: TurnParts,
  voice: Voice,
  values: unknown,
): Generator<Said, undefined> {
  const words = resultIn(graph, values, settings.output, voice.hasText);
  if (words) yield* voice.say(words);
}
