import type { Json, JsonObject } from "../../model/index.ts";
import { CLI_LIMITS } from "../limits.ts";
import { codeOf, excerpt, messageOf, Trouble } from "../trouble.ts";
import { asList, asObject, asText } from "./read.ts";
import { readSse } from "./sse.ts";

/** Where calls go and with what. */
export interface Link {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

/** The agent understood the call and refused it. */
export class Refusal extends Trouble {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = "Refusal";
    this.code = code;
  }
}

/** The other side was not reached, or the connection broke: trying again may help. */
export class Lost extends Trouble {
  /** In a few words, for those who try again. */
  readonly reason: string;
  constructor(message: string, reason: string, cause?: unknown) {
    super(message, cause);
    this.name = "Lost";
    this.reason = reason;
  }
}

export async function callRpc(
  link: Link,
  method: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<Json> {
  const response = await post(link, method, params, { accept: "application/json" }, signal);
  return resultOf(link, method, await readJson(link.url, response));
}

export interface Piece {
  readonly id?: string;
  readonly result: Json;
}

export async function* streamRpc(
  link: Link,
  method: string,
  params: JsonObject,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  const headers = { accept: "text/event-stream", ...(lastEventId && { "last-event-id": lastEventId }) };
  const response = await post(link, method, params, headers, signal);
  if (!isStream(response)) {
    // A refusal comes before the stream begins, as plain JSON (v1 §3.1.2).
    yield { result: resultOf(link, method, await readJson(link.url, response)) };
    return;
  }
  for await (const event of readSse(bodyOf(link.url, response), CLI_LIMITS.eventCharsMax)) {
    const result = resultOf(link, method, parse(link.url, event.data));
    yield event.id === undefined ? { result } : { id: event.id, result };
  }
}

const isStream = (response: Response): boolean =>
  response.headers.get("content-type")?.includes("text/event-stream") ?? false;

async function post(
  link: Link,
  method: string,
  params: JsonObject,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> {
  return request(link.fetch, link.url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers, ...link.headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    redirect: "manual",
    signal,
  });
}

/** Fetch with an error that says which URL, what happened and what to do. */
export async function request(fetchIt: typeof fetch, url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetchIt(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Lost(describe(url, error), shortly(error), error);
  }
}

/** What the network said, without the words that Node wraps it in. */
const shortly = (error: unknown): string =>
  codeOf(error) === "ECONNREFUSED" ? "connection refused" : messageOf((error as Error).cause ?? error);

function describe(url: string, error: unknown): string {
  const { host } = new URL(url);
  switch (codeOf(error)) {
    case "ECONNREFUSED":
      return `Nothing answers at ${url}: connection refused. Is the server running? Start one with: dragoman serve`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `The host of ${url} is not known. Is ${host} spelled right?`;
    case "UND_ERR_HEADERS_TIMEOUT":
      return `No answer from ${url} in five minutes. The task may go on: look with "dragoman tasks"`;
    default:
      return `${url} could not be reached: ${shortly(error)}`;
  }
}

/** The bytes of a body; a connection that breaks in the middle is told apart from a bug of ours. */
async function* bodyOf(url: string, response: Response): AsyncGenerator<Uint8Array> {
  if (!response.body) return;
  const reader = response.body.getReader();
  try {
    for (let step = await pull(url, reader); !step.done; step = await pull(url, reader)) yield step.value;
  } finally {
    // Whoever stops reading early lets go of the connection; it may be gone already.
    await reader.cancel().catch(() => undefined);
  }
}

type Chunks = ReadableStreamDefaultReader<Uint8Array>;
async function pull(url: string, reader: Chunks) {
  try {
    return await reader.read();
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    throw new Lost(`The connection to ${url} broke: ${shortly(error)}`, shortly(error), error);
  }
}

export async function readText(url: string, response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of bodyOf(url, response)) {
    bytes += chunk.byteLength;
    if (bytes > CLI_LIMITS.answerBytesMax)
      throw new Trouble(`${url} sent more than ${CLI_LIMITS.answerBytesMax} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** JSON of an answer. Servers send errors of JSON-RPC with any HTTP status, so the body is looked at first. */
async function readJson(url: string, response: Response): Promise<Json> {
  const text = await readText(url, response);
  if (response.ok) return parse(url, text);
  try {
    const json = JSON.parse(text) as Json;
    if (asObject(asObject(json).error).code !== undefined && asObject(json).jsonrpc) return json;
  } catch {}
  throw httpTrouble(url, response, text);
}

function parse(url: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Trouble(
      `${url} did not answer with JSON: "${excerpt(text)}". Is this the address of an A2A agent?`,
    );
  }
}

const CURES: Readonly<Record<number, string>> = {
  401: "It wants to know who calls: add --header 'Authorization: Bearer …'",
  403: "This caller may not do this: check what --header says",
  404: "Is the address right?",
  405: "Is the address right?",
  413: "The message is larger than this server takes",
  429: "Too many calls: wait a little",
};

export function httpTrouble(url: string, response: Response, text: string): Trouble {
  const location = response.headers.get("location");
  const cure = location ? `It points to ${location}: call that address` : CURES[response.status];
  const said = excerpt(text);
  const status = `HTTP ${response.status}${response.statusText && ` ${response.statusText}`}`;
  const message = `${url} answered ${status}${said && `: "${said}"`}${cure ? `. ${cure}` : ""}`;
  return response.status >= 500 ? new Lost(message, status) : new Trouble(message);
}

function resultOf(link: Link, method: string, envelope: Json): Json {
  const reply = asObject(envelope);
  if (reply.error) throw refusalOf(link, method, asObject(reply.error));
  if (reply.result === undefined)
    throw new Trouble(`${link.url} did not answer in JSON-RPC: "${excerpt(JSON.stringify(envelope))}"`);
  return reply.result;
}

function refusalOf(link: Link, method: string, error: JsonObject): Refusal {
  const code = typeof error.code === "number" ? error.code : 0;
  const fields = violationsOf(error);
  const message = `${asText(error.message) ?? "no reason given"}${fields && ` (${fields})`}`;
  return new Refusal(code, `${link.url} refused ${method}: ${message} [${code}]`);
}

/** v1 §9.5: which fields are wrong is told in a detail of type BadRequest. */
function violationsOf(error: JsonObject): string {
  return asList(error.data)
    .flatMap(detail => asList(asObject(detail).fieldViolations))
    .map(asObject)
    .map(one => `${asText(one.field)}: ${asText(one.description)}`)
    .join("; ");
}
