/** Conversations in the streaming protocol, which the differential test has with both servers. */
import type { Reply } from "./compare.ts";

export interface Conversation {
  readonly name: string;
  readonly assistant: string;
  readonly input: object;
  /** Answers to interrupts, in order. */
  readonly answers?: readonly unknown[];
}

const human = (content: string) => ({ messages: [{ type: "human", content, id: "human-1" }] });

export const CONVERSATIONS: readonly Conversation[] = [
  { name: "steps", assistant: "steps", input: { trail: ["in"] } },
  { name: "tokens", assistant: "chat", input: human("hi") },
  { name: "a subgraph", assistant: "nested", input: { trail: [] } },
  { name: "a tool", assistant: "tools", input: human("1 + 2") },
  { name: "an interrupt", assistant: "approval", input: human("do it"), answers: ["yes"] },
];

const CHANNELS = ["values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "custom"];

interface WireEvent {
  readonly method: string;
  readonly params: { readonly namespace: readonly string[]; readonly data: Record<string, unknown> };
}

/** The events of one channel, in the order of that channel: the order between channels is not the same everywhere. */
export async function converse(
  base: string,
  { assistant, input, answers = [] }: Conversation,
): Promise<Reply> {
  const path = `${base}/threads/${crypto.randomUUID()}`;
  const send = async (method: string, params: object): Promise<unknown> =>
    (await post(`${path}/commands`, { id: 1, method, params })).json();
  const stop = new AbortController();
  const stream = await post(`${path}/stream/events`, { channels: CHANNELS }, stop.signal);
  const replies = [await send("run.start", { assistant_id: assistant, input })];
  const events: WireEvent[] = [];
  const open = [...answers];
  for await (const event of readEvents(stream)) {
    events.push(event);
    if (!isEnd(event)) continue;
    const asked = events.findLast(one => one.method === "input.requested")?.params.data;
    if (event.params.data.event !== "interrupted" || open.length === 0) break;
    const answer = { namespace: [], interrupt_id: asked?.interrupt_id, response: open.shift() };
    replies.push(await send("input.respond", answer));
  }
  stop.abort();
  replies.push(await send("state.get", { namespace: [] }));
  return { status: stream.status, headers: {}, body: { replies, events: byChannel(events) } };
}

const post = (url: string, body: object, signal?: AbortSignal): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });

const isEnd = ({ method, params }: WireEvent): boolean =>
  method === "lifecycle" &&
  params.namespace.length === 0 &&
  ["completed", "failed", "interrupted"].includes(String(params.data.event));

async function* readEvents(response: Response): AsyncGenerator<WireEvent> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    const blocks = (text + decoder.decode(piece, { stream: true })).split(/\r?\n\r?\n/);
    text = blocks.pop() as string;
    for (const block of blocks) {
      const data = /^data: ?(.*)$/m.exec(block)?.[1];
      if (data !== undefined) yield JSON.parse(data) as WireEvent;
    }
  }
}

const byChannel = (events: readonly WireEvent[]): Record<string, unknown> =>
  Object.fromEntries(
    [...Map.groupBy(events, one => one.method)].map(([method, all]) => [
      method,
      all.map(({ params: { namespace, data } }) => ({ namespace, data })),
    ]),
  );
