import { reached, type Until } from "../model/index.ts";
import { RPC } from "./client/faults.ts";
import { Lost, Refusal } from "./client/rpc.ts";
import type { Received } from "./client/view.ts";
import type { RemoteAgent } from "./client.ts";
import { advance, type Progress } from "./progress.ts";
import { Trouble } from "./trouble.ts";

export interface FollowParts {
  readonly agent: RemoteAgent;
  readonly until: Until;
  readonly waitsMs: readonly number[];
  readonly signal: AbortSignal;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  note(text: string): void;
}

/** Reads a stream to its end; where the connection is lost on the way, takes it up again after the last event seen. */
export async function* follow(
  parts: FollowParts,
  begin: AsyncIterable<Received>,
  start: Progress,
): AsyncGenerator<Received> {
  let progress = start;
  let stream = begin;
  for (let tries = 0; ; tries++) {
    let lost: Lost | undefined;
    try {
      for await (const received of stream) {
        if (isNews(progress, received)) tries = 0;
        progress = advance(progress, received);
        yield received;
        // In a follow-up some servers begin with the task as it was before: still asking.
        if (isOver(received.item.kind === "task" ? "terminal" : parts.until, progress)) return;
      }
    } catch (error) {
      lost = lostOrThrow(error, progress, parts.signal);
    }
    // A server may close the stream at an interrupted state: then nothing more is to come.
    if (isOver("settled", progress)) return;
    if (progress.taskId === undefined)
      throw new Trouble(`${parts.agent.endpoint.url} ended the stream without a word`);
    await pause(parts, tries, lost);
    stream = rejoin(parts.agent, progress, parts.signal);
  }
}

function isOver(until: Until, progress: Progress): boolean {
  if (progress.replied) return true;
  return progress.state !== undefined && progress.state !== "unknown" && reached(until, progress.state);
}

/** A snapshot that shows what was known is no news, or a server that only ever sends one would be asked for ever. */
const isNews = (progress: Progress, { item }: Received): boolean =>
  item.kind !== "task" || item.task.state !== progress.state;

/** Nothing can be resumed before the task's id is known: the message may or may not have arrived. */
function lostOrThrow(error: unknown, progress: Progress, signal: AbortSignal): Lost {
  if (signal.aborted || !(error instanceof Lost) || progress.taskId === undefined) throw error;
  return error;
}

async function pause(parts: FollowParts, tries: number, lost: Lost | undefined): Promise<void> {
  const waitMs = parts.waitsMs[tries];
  const why = lost?.reason ?? "it ended before the task did";
  if (waitMs === undefined)
    throw new Trouble(
      `The stream of ${parts.agent.endpoint.url} was lost (${why}); gave up after ${tries} tries`,
    );
  parts.note(`the stream was lost (${why}); trying again (${tries + 1} of ${parts.waitsMs.length})`);
  await parts.sleep(waitMs, parts.signal);
}

/** The rest of the task; one that has ended meanwhile is read whole (v1 §3.1.6 refuses to stream it). */
export async function* rejoin(
  agent: RemoteAgent,
  { taskId = "", eventId }: Progress,
  signal: AbortSignal,
): AsyncGenerator<Received> {
  try {
    yield* agent.subscribe(taskId, eventId, signal);
  } catch (error) {
    if (!isEnded(error)) throw error;
    const { task, raw } = await agent.get(taskId, signal);
    yield { item: { kind: "task", task }, raw };
  }
}

/** Servers say "unsupported" for a task that has ended, and "no such method" when they cannot resume at all. */
const isEnded = (error: unknown): boolean =>
  error instanceof Refusal && (error.code === RPC.unsupportedOperation || error.code === RPC.methodNotFound);
