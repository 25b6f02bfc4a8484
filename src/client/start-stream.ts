import { Lost, Refusal } from "./errors.ts";
import { isUnsent } from "./http.ts";
import { advance } from "./progress.ts";
import { type FollowParts, look } from "./resume.ts";
import { patiently } from "./retry.ts";
import type { Draft, Received } from "./types.ts";

/** A message that has arrived: the first thing that was said to it, and what follows. */
export interface Begun {
  readonly first: Received;
  readonly rest: AsyncIterable<Received>;
}

export interface BeginParts extends Omit<FollowParts, "until"> {
  /** A message that may have arrived is sent again, under the same name: who knows names takes it once. */
  readonly again: boolean;
}

/** Sends a message; where nobody answers, again after a while. */
export const begin = (parts: BeginParts, draft: Draft): Promise<Begun> =>
  patiently(
    parts,
    () => send(parts, draft),
    lost => parts.again || isUnsent(lost),
  );

async function send(parts: BeginParts, draft: Draft): Promise<Begun> {
  const { agent, signal } = parts;
  if (!agent.streaming) return sendOnce(parts, draft);
  const stream = agent.stream(draft, signal)[Symbol.asyncIterator]();
  try {
    const { value, done } = await stream.next();
    if (done) throw new Lost(`${agent.endpoint.url} ended the stream without a word`, "it said nothing");
    return { first: value, rest: { [Symbol.asyncIterator]: () => stream } };
  } catch (error) {
    // The card promised too much.
    if (error instanceof Refusal && error.kind === "unsupported") return sendOnce(parts, draft);
    throw error;
  }
}

/** Answered at once, so that its task is known before the work is done; then the task is looked at. */
async function sendOnce(parts: BeginParts, draft: Draft): Promise<Begun> {
  const { agent, signal } = parts;
  // The answer to a question would find the question: it waits for what comes of it.
  const first = await agent.send({ ...draft, atOnce: draft.taskId === undefined }, signal);
  return { first, rest: look(agent, advance({}, first), parts) };
}

/** Everything that was said to a message, from the first thing on. */
export async function* wholeOf({ first, rest }: Begun): AsyncGenerator<Received> {
  yield first;
  yield* rest;
}
