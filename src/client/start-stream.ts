import { isUnsupported, UnavailableError } from "./errors.ts";
import { isUnsent } from "./http.ts";
import { updateProgress } from "./progress.ts";
import { poll, type ResumeParts } from "./resume.ts";
import { withRetry } from "./retry.ts";
import type { OutgoingMessage, ReceivedResponse } from "./types.ts";

/** A message that has arrived: its first response, and the responses after it. */
export interface StartedStream {
  readonly first: ReceivedResponse;
  readonly rest: AsyncIterable<ReceivedResponse>;
}

export interface StartParts extends Omit<ResumeParts, "until"> {
  /** A message that may have arrived is sent again with the same id: servers that know the id process it once. */
  readonly resend: boolean;
}

/** Sends a message and retries while the agent is unavailable. */
export const startStream = (parts: StartParts, message: OutgoingMessage): Promise<StartedStream> =>
  withRetry(
    parts,
    () => send(parts, message),
    error => parts.resend || isUnsent(error),
  );

async function send(parts: StartParts, message: OutgoingMessage): Promise<StartedStream> {
  const { agent, signal } = parts;
  if (!agent.streaming) return sendAndPoll(parts, message);
  const stream = agent.stream(message, signal)[Symbol.asyncIterator]();
  try {
    const { value, done } = await stream.next();
    if (done)
      throw new UnavailableError(`${agent.endpoint.url} closed the stream without an event`, "empty stream");
    return { first: value, rest: { [Symbol.asyncIterator]: () => stream } };
  } catch (error) {
    // The card declares streaming, but the server does not support it.
    if (isUnsupported(error)) return sendAndPoll(parts, message);
    throw error;
  }
}

/** The agent responds immediately, so that the task id is known before the work is done; then the task is polled. */
async function sendAndPoll(parts: StartParts, message: OutgoingMessage): Promise<StartedStream> {
  const { agent, signal } = parts;
  // A follow-up is blocking: an immediate response would still show the task as input-required.
  const first = await agent.send({ ...message, returnImmediately: message.taskId === undefined }, signal);
  return { first, rest: poll(agent, updateProgress({}, first), parts) };
}

/** All responses to a message. */
export async function* readStarted({ first, rest }: StartedStream): AsyncGenerator<ReceivedResponse> {
  yield first;
  yield* rest;
}
