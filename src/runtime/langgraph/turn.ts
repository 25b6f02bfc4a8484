/** One turn of a graph. */
import type { AgentOutput, AgentTask, Ctx } from "../../agent/context.ts";
import type { Json } from "../../lib/json.ts";
import { withCause } from "../../model/index.ts";
import type { AgentEvent } from "../../ports/index.ts";
import { OutputWriter } from "../shared/output-writer.ts";
import { relay } from "../shared/relay.ts";
import { toChunk, toEventChunk } from "./chunks.ts";
import {
  type Checkpointer,
  type Graph,
  type GraphConfig,
  type GraphInterrupt,
  inputKeysOf,
  type LibraryEvent,
  type Snapshot,
  type StreamChunk,
} from "./graph.ts";
import { checkData, toInput } from "./input.ts";
import { saveQuestion } from "./open-questions.ts";
import { toPause, toQuestions } from "./questions.ts";
import type { ReplayLog } from "./replay-log.ts";
import { type GraphRequest, toLibraryModes, toRequestInput, withRequest } from "./request.ts";
import {
  findPendingInterrupts,
  hasEnded,
  isAtBreakpoint,
  toInputError,
  toRecursionMessage,
  toResultOutput,
} from "./state.ts";
import { STREAM_MODES, StreamListener, type StreamListenerSettings } from "./stream-listener.ts";

export interface GraphTurnSettings extends StreamListenerSettings {
  readonly separator: string;
  /** The member of the state that is the response. */
  readonly output: string | undefined;
  readonly input: ((task: AgentTask) => unknown) | undefined;
}

/** The stored state of a graph in a context. */
export interface GraphState {
  readonly checkpointer: Checkpointer;
  readonly replayLog: ReplayLog;
  readonly thread: string;
}

export interface GraphTurnParts {
  readonly graph: Graph;
  readonly settings: GraphTurnSettings;
  readonly task: AgentTask;
  readonly ctx: Ctx;
  readonly config: GraphConfig;
  /** undefined: the graph has no checkpoints, so it starts again after a crash. */
  readonly state: GraphState | undefined;
  /** undefined: the call came over another protocol than LangGraph's. */
  readonly request: GraphRequest | undefined;
  /** The checkpoint at which this task asked, if other tasks have moved the state on since. */
  readonly checkpoint: string | undefined;
}

/** `input` null: the graph continues where it stopped. */
interface Start {
  readonly input: unknown;
  /** The checkpoint from which it continues; undefined: the newest one. */
  readonly checkpoint?: string | undefined;
}

export async function* runTurn(parts: GraphTurnParts): AsyncGenerator<AgentOutput, undefined> {
  const { graph, settings, ctx, config, state } = parts;
  const writer = new OutputWriter(ctx, settings.separator);
  const listener = new StreamListener(settings, output => state?.replayLog.add(output));
  const before = state && (await graph.getState(config));
  const earlier = await readEarlierAttempt(parts, before);
  for (const taskOutput of earlier.outputs) {
    listener.markWritten(taskOutput);
    yield* writer.write(taskOutput.output);
  }
  if (earlier.reached && hasEnded(earlier.reached))
    return yield* writeResult(parts, writer, earlier.reached.values);
  const start = earlier.reached ? await resumeGraph(parts, earlier.reached) : await startGraph(parts, before);
  if (!("input" in start)) return yield start;
  const { request } = parts;
  const at = withCheckpoint(config, start.checkpoint);
  const asked = request ? withRequest(at, request, earlier.reached === undefined) : at;
  yield* stream(parts, asked, writer, listener, start.input);
}

/** The output and the state of an earlier attempt of this turn; `reached` undefined: it had not started the graph. */
async function readEarlierAttempt({ ctx, state }: GraphTurnParts, before: Snapshot | undefined) {
  if (!state || !before) return { outputs: [], reached: undefined };
  const current = before.config.configurable?.checkpoint_id ?? null;
  // Recorded, so that every attempt knows the first checkpoint; it also makes the turn resumable for the runner.
  const first = await ctx.step("where the graph stood", () => current);
  if (ctx.attempt === 1) return { outputs: [], reached: undefined };
  const outputs = await state.replayLog.read(state.checkpointer, state.thread);
  return { outputs, reached: current === first ? undefined : before };
}

/** After a crash: the graph has got its input, so it continues where it stopped. */
async function resumeGraph(parts: GraphTurnParts, reached: Snapshot): Promise<Start | AgentEvent> {
  const { graph, task, config, state, request } = parts;
  const breakpoints = {
    interruptBefore: request?.interruptBefore ?? graph.interruptBefore ?? [],
    interruptAfter: request?.interruptAfter ?? graph.interruptAfter ?? [],
  };
  const isPaused = state && (await isAtBreakpoint(breakpoints, reached.next, state.checkpointer, config));
  return isPaused ? toPause(task, reached.next) : { input: null };
}

async function startGraph(parts: GraphTurnParts, before: Snapshot | undefined): Promise<Start | AgentEvent> {
  const { graph, settings, task, ctx, state, request, checkpoint } = parts;
  if (request) return { input: toRequestInput(request) };
  if (task.turn > 1 && before && state) {
    const config = withCheckpoint(parts.config, checkpoint);
    const asked = checkpoint === undefined ? before : await graph.getState(config);
    const answer = toAnswer(parts, asked, await findPendingInterrupts(asked, state.checkpointer, config));
    return "input" in answer ? { ...answer, checkpoint } : answer;
  }
  if (settings.input) return { input: settings.input(task) };
  return { input: await toInput(task, ctx, inputKeysOf(graph)) };
}

const withCheckpoint = (config: GraphConfig, checkpoint_id: string | undefined): GraphConfig =>
  checkpoint_id === undefined
    ? config
    : { ...config, configurable: { ...config.configurable, checkpoint_id } };

/** A graph with pending interrupts continues when all of them are answered. */
function toAnswer(
  { task, ctx }: GraphTurnParts,
  before: Snapshot,
  pending: readonly GraphInterrupt[],
): Start | AgentEvent {
  if (pending.length === 0) {
    if (!hasEnded(before)) return { input: null };
    // Another message of the context came first, or the graph's own checkpointer has lost its state.
    return ctx.fail("The question is no longer open: the graph has continued without an answer");
  }
  const isAnswered = ({ id = "" }: GraphInterrupt): boolean => Object.hasOwn(task.answers, id);
  if (!pending.every(isAnswered)) return toQuestions(task, pending);
  checkData(task.answers as Json);
  const resume = pending.map(({ id = "" }): [string, Json] => [id, task.answers[id] as Json]);
  // By id even if there is one: LangGraph ignores bare answers such as "" and false.
  return { input: { lg_name: "Command", resume: Object.fromEntries(resume), goto: [] } };
}

/** `asked`: the config of the run; it may name a checkpoint at which the run begins. */
async function* stream(
  parts: GraphTurnParts,
  asked: GraphConfig,
  writer: OutputWriter,
  listener: StreamListener,
  input: unknown,
): AsyncGenerator<AgentOutput, undefined> {
  const { graph, task, ctx, config, state, request } = parts;
  try {
    yield* relay(async emit => {
      listener.onOutput = output => {
        for (const event of writer.write(output)) emit(event).catch(() => {});
      };
      const onChunk = (chunk: StreamChunk): void => {
        listener.listen(chunk);
        const event = request && toChunk(chunk, request, task.contextId);
        if (event) emit(event).catch(() => {});
      };
      const onEvent = (event: unknown): void => void emit(toEventChunk(event)).catch(() => {});
      for await (const chunk of readGraph({ ...parts, config: asked }, input, onEvent)) onChunk(chunk);
    });
  } catch (error) {
    const message = toRecursionMessage(error);
    if (message === undefined) throw (!listener.hasStarted && toInputError(error)) || error;
    ctx.log.warn({ taskId: task.id, err: error }, "a graph reached its recursion limit");
    return yield withCause(ctx.fail(message), error);
  }
  if (!listener.isInterrupted) {
    if (state && task.turn > 1) await saveQuestion(ctx.storage, task.id, undefined);
    return yield* writeResult(parts, writer, listener.values);
  }
  // The state has the interrupts in the order of the graph.
  const snapshot = await graph.getState(config);
  const pending = state ? await findPendingInterrupts(snapshot, state.checkpointer, config) : [];
  if (state) await saveQuestion(ctx.storage, task.id, snapshot.config.configurable?.checkpoint_id);
  yield pending.length > 0 ? toQuestions(task, pending) : toPause(task, snapshot.next);
}

/** Events of LangChain come only where the caller asked for them: they cost more than all the rest. */
async function* readGraph(
  { graph, config, request }: GraphTurnParts,
  input: unknown,
  onEvent: (event: unknown) => void,
): AsyncGenerator<StreamChunk, undefined> {
  const streamMode = [...new Set([...STREAM_MODES, ...toLibraryModes(request?.modes ?? [], graph)])];
  if (!request?.modes.includes("events") || !graph.streamEvents) {
    yield* await graph.stream(input, { ...config, streamMode });
    return;
  }
  const { runId } = request;
  const events = graph.streamEvents(input, { ...config, streamMode, runId, version: "v2" });
  for await (const event of events as AsyncIterable<LibraryEvent>)
    if (event.event === "on_chain_stream" && event.run_id === runId) yield event.data?.chunk as StreamChunk;
    else if (!event.tags?.includes("langsmith:hidden")) onEvent(event);
}

/** The final state is the response of a graph that has written no text. */
function* writeResult(
  { graph, settings }: GraphTurnParts,
  writer: OutputWriter,
  values: unknown,
): Generator<AgentOutput, undefined> {
  const output = toResultOutput(graph, values, settings.output, writer.hasText);
  if (output) yield* writer.write(output);
}
