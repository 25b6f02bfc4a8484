import { isSettled, reached, type Until } from "../model/index.ts";
import { Lost, Refusal, Trouble } from "./errors.ts";
import { CLIENT_LIMITS } from "./limits.ts";
import type { RemoteAgent } from "./open.ts";
import { advance, type Progress } from "./progress.ts";
import type { Patience } from "./retry.ts";
import { Replay } from "./skip-replayed.ts";
import type { Received } from "./types.ts";

export interface FollowParts extends Patience {
  readonly agent: RemoteAgent;
  readonly until: Until;
}

/**
 * Reads a stream to its end; where the connection is lost on the way, takes it up again after the last event seen.
 * Where that cannot be told, snapshots say what was missed: whoever reads them shows only what is new in them.
 */
export async function* follow(
  parts: FollowParts,
  begin: AsyncIterable<Received>,
  start: Progress,
): AsyncGenerator<Received> {
  const { agent } = parts;
  const replay = new Replay();
  let progress = start;
  let stream = begin;
  let blurred = false;
  for (let tries = 0; ; tries++) {
    let lost: Lost | undefined;
    try {
      for await (const received of stream) {
        if (isNews(progress, received)) tries = 0;
        progress = advance(progress, received);
        const item = replay.take(received.item);
        // In a follow-up some servers begin with the task as it was before: still asking.
        const isEnd = isOver(received.item.kind === "task" ? "terminal" : parts.until, progress);
        if (isEnd && blurred && received.item.kind !== "task") yield* lastLook(agent, progress, parts.signal);
        if (item) yield item === received.item ? received : { ...received, item };
        if (isEnd) return;
      }
    } catch (error) {
      lost = lostOrThrow(error, progress, parts.signal);
    }
    // A server may close the stream at an interrupted state: then nothing more is to come.
    if (isOver("settled", progress)) return;
    if (progress.taskId === undefined)
      throw new Trouble(`${agent.endpoint.url} ended the stream without a word`);
    await pause(parts, tries, lost);
    if (howRejoined(agent, progress) === "replay") replay.begin();
    blurred ||= howRejoined(agent, progress) === "snapshot";
    stream = rejoin(agent, progress, parts);
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
      lost,
    );
  parts.note(`the stream was lost (${why}); trying again (${tries + 1} of ${parts.waitsMs.length})`);
  await parts.sleep(Math.max(waitMs, lost?.retryAfterMs ?? 0), parts.signal);
}

/** "after": exactly where it was left. */
const howRejoined = (agent: RemoteAgent, { eventId }: Progress): "after" | "snapshot" | "replay" | "look" =>
  eventId === undefined ? agent.endpoint.dialect.rejoins : "after";

/** Takes up what was left, as well as the agent allows. */
export const rejoin = (
  agent: RemoteAgent,
  progress: Progress,
  parts: Pick<Patience, "signal" | "sleep">,
): AsyncIterable<Received> =>
  howRejoined(agent, progress) === "look" ? look(agent, progress, parts) : join(agent, progress, parts);

/** What a task says from now on; one that has ended meanwhile is read whole (v1 §3.1.6 refuses to stream it). */
export async function* join(
  agent: RemoteAgent,
  progress: Progress,
  parts: Pick<Patience, "signal" | "sleep">,
): AsyncGenerator<Received> {
  const { taskId = "", contextId, eventId } = progress;
  try {
    yield* agent.subscribe({ taskId, contextId }, eventId, parts.signal);
  } catch (error) {
    // Servers say "unsupported" for a task that has ended, and for what they cannot do at all.
    if (!(error instanceof Refusal) || error.kind !== "unsupported") throw error;
    yield* look(agent, progress, parts);
  }
}

/** The task as it stands, whenever it has changed, until nothing more is to come. */
export async function* look(
  agent: RemoteAgent,
  { taskId = "", contextId }: Progress,
  { signal, sleep }: Pick<Patience, "signal" | "sleep">,
): AsyncGenerator<Received> {
  for (let before = ""; ; ) {
    const { task, raw } = await agent.get({ taskId, contextId }, signal);
    const now = JSON.stringify(raw);
    if (now !== before) yield { item: { kind: "task", task }, raw };
    if (task.state === "unknown" || isSettled(task.state)) return;
    before = now;
    await sleep(CLIENT_LIMITS.pollMs, signal);
  }
}

/** Between a snapshot and the stream after it something may have been told twice or not at all: the end is read whole. */
async function* lastLook(
  agent: RemoteAgent,
  { taskId = "", contextId, replied }: Progress,
  signal: AbortSignal,
): AsyncGenerator<Received> {
  if (replied) return;
  const { task, raw } = await agent.get({ taskId, contextId }, signal);
  const { message: _, ...rest } = task;
  yield { item: { kind: "task", task: { ...rest, state: "working" } }, raw };
}
