/** A caller that retries: after any failure it repeats the call with the same key and resumes its stream. */
import { setTimeout as sleep } from "node:timers/promises";
import { openStream, rpc, type SseEvent } from "../client.ts";
import type { ChaosClient } from "./clients.ts";

export interface CallResult {
  readonly client: ChaosClient;
  readonly text: string;
  readonly how: "send" | "stream";
  /** The events, over all connections. */
  readonly events: readonly SseEvent[];
  /** The response of a plain send. */
  readonly answer: unknown;
  /** How often the connection broke. */
  readonly breaks: number;
}

const PAUSE_MS = 50;

/** Rejects only if the server refuses the call. */
export async function call(
  base: string,
  client: ChaosClient,
  text: string,
  how: "send" | "stream",
): Promise<CallResult> {
  const events: SseEvent[] = [];
  for (let breaks = 0; ; breaks++) {
    try {
      const answer = how === "send" ? await send(base, client, text) : await read(base, client, text, events);
      return { client, text, how, events, answer, breaks };
    } catch (error) {
      if (error instanceof Refused) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** A refusal with Retry-After. */
const isTemporary = (error: { readonly message?: string } | undefined): boolean =>
  /try again|nothing was recorded/.test(error?.message ?? "");

/** The server answered with a refusal. */
class Refused extends Error {}

const keyOf = (client: ChaosClient, text: string): Record<string, string> => ({
  ...client.headers,
  "idempotency-key": `key-${text}`,
});

async function send(base: string, client: ChaosClient, text: string): Promise<unknown> {
  const { method, params } = client.call(text, "send");
  const headers = { accept: "application/json", ...keyOf(client, text) };
  const { status, body } = await rpc(base + client.path, method, params, headers);
  if (status === 503 || isTemporary(body?.error)) throw new Error("not now");
  if (status !== 200 || body.error) throw new Refused(`${client.name}: ${status} ${JSON.stringify(body)}`);
  return body.result;
}

async function read(base: string, client: ChaosClient, text: string, events: SseEvent[]): Promise<undefined> {
  for await (const event of await replay(base, client, text, events.at(-1)?.id)) {
    if (isTemporary(event.data.error)) throw new Error("not now");
    if (event.data.error) throw new Refused(`${client.name}: ${JSON.stringify(event.data)}`);
    events.push(event);
  }
}

/** The same streaming call again, after an event. */
export async function replay(
  base: string,
  client: ChaosClient,
  text: string,
  after: string | undefined,
): Promise<AsyncIterable<SseEvent>> {
  const { method, params } = client.call(text, "stream");
  const position = after === undefined ? {} : { "last-event-id": after };
  const stream = await openStream(base + client.path, method, params, {
    ...keyOf(client, text),
    ...position,
  });
  if (stream.status === 503) throw new Error("not now");
  if (!stream.headers.get("content-type")?.startsWith("text/event-stream")) {
    const body = await stream.text();
    if (isTemporary({ message: body })) throw new Error("not now");
    throw new Refused(`${client.name}: ${stream.status}, no stream but ${body}`);
  }
  return stream;
}
