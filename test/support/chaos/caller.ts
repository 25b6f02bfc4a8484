/** A caller who does not give up: whatever breaks, it calls again with the same key and goes on where it was. */
import { setTimeout as sleep } from "node:timers/promises";
import { openStream, rpc, type SseEvent } from "../client.ts";
import type { Speaker } from "./speakers.ts";

export interface Done {
  readonly speaker: Speaker;
  readonly text: string;
  readonly how: "send" | "stream";
  /** What came, over all connections. */
  readonly events: readonly SseEvent[];
  /** What a plain send was answered with. */
  readonly answer: unknown;
  /** How often the connection broke. */
  readonly breaks: number;
}

const PAUSE_MS = 50;

/** Rejects only if the server says no. */
export async function call(
  base: string,
  speaker: Speaker,
  text: string,
  how: "send" | "stream",
): Promise<Done> {
  const events: SseEvent[] = [];
  for (let breaks = 0; ; breaks++) {
    try {
      const answer =
        how === "send" ? await send(base, speaker, text) : await read(base, speaker, text, events);
      return { speaker, text, how, events, answer, breaks };
    } catch (error) {
      if (error instanceof Refused) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** A refusal that tells to come back. */
const isPassing = (error: { readonly message?: string } | undefined): boolean =>
  /try again|nothing was recorded/.test(error?.message ?? "");

/** The server answered, and it was no. */
class Refused extends Error {}

const keyOf = (speaker: Speaker, text: string): Record<string, string> => ({
  ...speaker.headers,
  "idempotency-key": `key-${text}`,
});

async function send(base: string, speaker: Speaker, text: string): Promise<unknown> {
  const { method, params } = speaker.call(text, "send");
  const headers = { accept: "application/json", ...keyOf(speaker, text) };
  const { status, body } = await rpc(base + speaker.path, method, params, headers);
  if (status === 503 || isPassing(body?.error)) throw new Error("not now");
  if (status !== 200 || body.error) throw new Refused(`${speaker.name}: ${status} ${JSON.stringify(body)}`);
  return body.result;
}

async function read(base: string, speaker: Speaker, text: string, events: SseEvent[]): Promise<undefined> {
  for await (const event of await replay(base, speaker, text, events.at(-1)?.id)) {
    if (isPassing(event.data.error)) throw new Error("not now");
    if (event.data.error) throw new Refused(`${speaker.name}: ${JSON.stringify(event.data)}`);
    events.push(event);
  }
}

/** The same streaming call again, after an event. */
export async function replay(
  base: string,
  speaker: Speaker,
  text: string,
  after: string | undefined,
): Promise<AsyncIterable<SseEvent>> {
  const { method, params } = speaker.call(text, "stream");
  const place = after === undefined ? {} : { "last-event-id": after };
  const stream = await openStream(base + speaker.path, method, params, {
    ...keyOf(speaker, text),
    ...place,
  });
  if (stream.status === 503) throw new Error("not now");
  if (!stream.headers.get("content-type")?.startsWith("text/event-stream")) {
    const told = await stream.text();
    if (isPassing({ message: told })) throw new Error("not now");
    throw new Refused(`${speaker.name}: ${stream.status}, no stream but ${told}`);
  }
  return stream;
}
