import { isReached, isSettled, type Until } from "../model/index.ts";
import { ClientError, isUnsupported, UnavailableError } from "./errors.ts";
import { CLIENT_LIMITS } from "./limits.ts";
import type { RemoteAgent } from "./open.ts";
import { type Progress, updateProgress } from "./progress.ts";
import type { RetryOptions } from "./retry.ts";
import { ReplayFilter } from "./skip-replayed.ts";
import type { ReceivedResponse } from "./types.ts";

export interface ResumeParts extends RetryOptions {
  readonly agent: RemoteAgent;
  readonly until: Until;
  /** The message continues a task. Some servers then first send the task as it was before: still input-required. */
  readonly isFollowUp?: boolean | undefined;
}
type PollOptions = Pick<RetryOptions, "signal" | "sleep">;

/**
 * Reads a stream to its end and resumes it after a lost connection: after the last event id if there is one, else from
 * a snapshot of the task. Snapshots repeat earlier content; `dedupe` removes it.
 */
export async function* readResumable(
  parts: ResumeParts,
  first: AsyncIterable<ReceivedResponse>,
  start: Progress,
): AsyncGenerator<ReceivedResponse> {
  const { agent } = parts;
  const replay = new ReplayFilter();
  let progress = start;
  let stream = first;
  let mayHaveGap = false;
  let mayBeStale = parts.isFollowUp === true;
  for (let retries = 0; ; retries++) {
    let lost: UnavailableError | undefined;
    try {
      for await (const received of stream) {
        if (isProgress(progress, received)) retries = 0;
        progress = updateProgress(progress, received);
        const item = replay.take(received.item);
        const isTask = received.item.kind === "task";
        const isEnd = isFinished(isTask && mayBeStale ? "terminal" : parts.until, progress);
        mayBeStale = false;
        if (isEnd && mayHaveGap && !isTask) yield* readFinalArtifacts(agent, progress, parts.signal);
        if (item) yield item === received.item ? received : { ...received, item };
        if (isEnd) return;
      }
    } catch (error) {
      const canResume = error instanceof UnavailableError && progress.taskId !== undefined;
      // Without a task id there is nothing to resume: the message may or may not have arrived.
      if (parts.signal.aborted || !canResume) throw error;
      lost = error;
    }
    const isWaiting = isFinished("settled", progress);
    // A server may close the stream when the task is interrupted: nothing follows until a caller acts.
    if (isWaiting && parts.until !== "terminal") return;
    if (progress.taskId === undefined)
      throw new ClientError(`${agent.endpoint.url} closed the stream without an event`);
    if (isWaiting && !lost) {
      await parts.sleep(CLIENT_LIMITS.pollMs, parts.signal);
      retries = -1;
    } else await waitBeforeResume(parts, retries, lost);
    const mode = resumeMode(agent, progress);
    if (mode === "replay") replay.begin();
    mayHaveGap ||= mode === "snapshot";
    stream = resume(agent, progress, parts);
  }
}

function isFinished(until: Until, progress: Progress): boolean {
  if (progress.replied) return true;
  return progress.state !== undefined && progress.state !== "unknown" && isReached(until, progress.state);
}

/** A snapshot in a known state does not reset the retries: a server may send nothing but the same snapshot. */
const isProgress = (progress: Progress, { item }: ReceivedResponse): boolean =>
  item.kind !== "task" || item.task.state !== progress.state;

async function waitBeforeResume(
  { agent, delaysMs, onRetry, sleep, signal }: ResumeParts,
  retries: number,
  lost: UnavailableError | undefined,
): Promise<void> {
  const delayMs = delaysMs[retries];
  const reason = lost?.reason ?? "it ended before the task did";
  if (delayMs === undefined) {
    const message = `The stream of ${agent.endpoint.url} was lost (${reason}); gave up after ${retries} tries`;
    throw new ClientError(message, lost);
  }
  onRetry(`the stream was lost (${reason}); retry ${retries + 1} of ${delaysMs.length}`);
  await sleep(Math.max(delayMs, lost?.retryAfterMs ?? 0), signal);
}

/** "after": directly after the last event id. */
const resumeMode = (agent: RemoteAgent, { eventId }: Progress) =>
  eventId === undefined ? agent.endpoint.dialect.resumeBy : "after";

export const resume = (
  agent: RemoteAgent,
  progress: Progress,
  options: PollOptions,
): AsyncIterable<ReceivedResponse> =>
  resumeMode(agent, progress) === "poll"
    ? poll(agent, progress, options)
    : subscribe(agent, progress, options);

/** Subscribes to a task; a task that has ended is read once instead (v1 §3.1.6 does not stream it). */
export async function* subscribe(
  agent: RemoteAgent,
  progress: Progress,
  options: PollOptions,
): AsyncGenerator<ReceivedResponse> {
  const { taskId = "", contextId, eventId } = progress;
  try {
    yield* agent.subscribe({ taskId, contextId }, eventId, options.signal);
  } catch (error) {
    // Servers answer "unsupported" for a task that has ended, and where they cannot stream at all.
    if (!isUnsupported(error)) throw error;
    yield* poll(agent, progress, options);
  }
}

/** Yields the task whenever it has changed, until it is settled. */
export async function* poll(
  agent: RemoteAgent,
  { taskId = "", contextId }: Progress,
  { signal, sleep }: PollOptions,
): AsyncGenerator<ReceivedResponse> {
  for (let previous = ""; ; ) {
    const { task, raw } = await agent.get({ taskId, contextId }, signal);
    const current = JSON.stringify(raw);
    if (current !== previous) yield { item: { kind: "task", task }, raw };
    if (task.state === "unknown" || isSettled(task.state)) return;
    previous = current;
    await sleep(CLIENT_LIMITS.pollMs, signal);
  }
}

/** Events between a snapshot and the stream after it may be missing: the artifacts are read once more at the end. */
async function* readFinalArtifacts(
  agent: RemoteAgent,
  { taskId = "", contextId, replied }: Progress,
  signal: AbortSignal,
): AsyncGenerator<ReceivedResponse> {
  if (replied) return;
  const { task, raw } = await agent.get({ taskId, contextId }, signal);
  const { message: _, ...rest } = task;
  yield { item: { kind: "task", task: { ...rest, state: "working" } }, raw };
}
