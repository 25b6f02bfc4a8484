/** A client that hides nothing: JSON-RPC calls and raw streams, for tests that look at the wire. */

export interface RpcReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came back.
  readonly body: any;
}

export interface SseEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came back.
  readonly data: any;
}

const HEADERS = { "content-type": "application/json" };
const V1 = { ...HEADERS, "a2a-version": "1.0" };

let calls = 0;

/** `method` decides the version header: PascalCase is v1. */
export async function rpc(
  url: string,
  method: string,
  params: unknown,
  headers: Record<string, string> = {},
): Promise<RpcReply> {
  const response = await post(url, method, params, headers);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

function post(
  url: string,
  method: string,
  params: unknown,
  headers: Record<string, string>,
  signal?: AbortSignal,
): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: ++calls, method, params });
  const base = /^[A-Z]/.test(method) ? V1 : HEADERS;
  return fetch(url, { method: "POST", headers: { ...base, ...headers }, body, ...(signal && { signal }) });
}

export interface Stream extends AsyncIterable<SseEvent> {
  readonly status: number;
  readonly headers: Headers;
  /** The body of a response that is no stream. */
  text(): Promise<string>;
  /** All events to the end. */
  all(): Promise<SseEvent[]>;
  /** The next event; undefined at the end. */
  next(): Promise<SseEvent | undefined>;
  close(): void;
}

export async function openStream(
  url: string,
  method: string,
  params: unknown,
  headers: Record<string, string> = {},
): Promise<Stream> {
  const controller = new AbortController();
  const response = await post(
    url,
    method,
    params,
    { accept: "text/event-stream", ...headers },
    controller.signal,
  );
  return toStream(response, controller);
}

/** The events of any response. */
export function toStream(response: Response, controller: AbortController): Stream {
  const events = readSse(response);
  return {
    status: response.status,
    headers: response.headers,
    text: () => response.text(),
    [Symbol.asyncIterator]: () => events,
    async all() {
      return Array.fromAsync(events);
    },
    async next() {
      const { value, done } = await events.next();
      return done ? undefined : value;
    },
    close: () => controller.abort(),
  };
}

async function* readSse(response: Response): AsyncGenerator<SseEvent, undefined> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk as Uint8Array, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop() as string;
    for (const block of blocks) {
      const event = toEvent(block);
      if (event) yield event;
    }
  }
}

export function toEvent(block: string): SseEvent | null {
  const field = (name: string): string | undefined =>
    block
      .split("\n")
      .find(line => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const data = field("data");
  return data === undefined ? null : { id: field("id"), event: field("event"), data: JSON.parse(data) };
}

let messages = 0;
const newId = (): string => `message-${++messages}`;

/** Params of a v1 send. */
export function sendParams(text: string, more: object = {}): object {
  return { message: { messageId: newId(), role: "ROLE_USER", parts: [{ text }], ...more } };
}

/** Params of a v0.3 send. */
export function sendParamsV03(text: string, more: object = {}): object {
  const message = {
    kind: "message",
    messageId: newId(),
    role: "user",
    parts: [{ kind: "text", text }],
    ...more,
  };
  return { message };
}

/** The limit is for tests that hang: a busy machine is slow. */
export async function until(condition: () => boolean | Promise<boolean>, waitMs = 60_000): Promise<void> {
  const end = Date.now() + waitMs;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error("waited too long for a condition");
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}
