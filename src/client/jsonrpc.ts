import type { Json, JsonObject } from "../lib/json.ts";
import { excerpt, Refusal, type RefusalKind, Trouble } from "./errors.ts";
import { bodyOf, httpTrouble, isStream, type Link, parse, readText, request } from "./http.ts";
import { CLIENT_LIMITS } from "./limits.ts";
import { asList, asObject, asText } from "./read.ts";
import { readSse } from "./sse.ts";
import type { Asked, Piece, Transport } from "./transport.ts";

export interface JsonRpcParts extends Link {
  kindOfNumber(code: number): RefusalKind;
  /** Pieces of a stream have no envelope. */
  readonly bareFrames: boolean;
}

export function createJsonRpc(link: JsonRpcParts): Transport {
  return {
    async call(asked, signal) {
      const response = await post(link, asked, { accept: "application/json" }, signal);
      return resultOf(link, asked.method, await readJson(link.url, response));
    },
    stream: (asked, lastEventId, signal) => stream(link, asked, lastEventId, signal),
  };
}

async function* stream(
  link: JsonRpcParts,
  asked: Asked,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  const headers = { accept: "text/event-stream", ...(lastEventId && { "last-event-id": lastEventId }) };
  const response = await post(link, asked, headers, signal);
  if (!isStream(response)) {
    // A refusal comes before the stream begins, as plain JSON (v1 §3.1.2).
    yield { result: resultOf(link, asked.method, await readJson(link.url, response)) };
    return;
  }
  for await (const event of readSse(bodyOf(link.url, response), CLIENT_LIMITS.eventCharsMax)) {
    const said = parse(link.url, event.data);
    const isBare = link.bareFrames && asObject(said).jsonrpc === undefined;
    const result = isBare ? said : resultOf(link, asked.method, said);
    yield event.id === undefined ? { result } : { id: event.id, result };
  }
}

const post = (
  link: JsonRpcParts,
  { method, params, headers, metadata }: Asked,
  more: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> =>
  request(
    link,
    {
      verb: "POST",
      url: link.url,
      headers: { "content-type": "application/json", ...more, ...link.headers, ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params, ...(metadata && { metadata }) }),
    },
    signal,
  );

/** JSON of an answer. Servers send errors of JSON-RPC with any HTTP status, so the body is looked at first. */
async function readJson(url: string, response: Response): Promise<Json> {
  const text = await readText(url, response);
  if (response.ok) return parse(url, text);
  try {
    const json = JSON.parse(text) as Json;
    // Whether to say who one is, or to come back later, is told by the status alone.
    const isOfHttp = response.status === 401 || response.status === 429 || response.status === 503;
    if (!isOfHttp && asObject(asObject(json).error).code !== undefined && asObject(json).jsonrpc) return json;
  } catch {}
  throw httpTrouble(url, response, text);
}

function resultOf(link: JsonRpcParts, method: string, envelope: Json): Json {
  const reply = asObject(envelope);
  if (reply.error) throw refusalOf(link, method, asObject(reply.error));
  if (reply.result === undefined)
    throw new Trouble(`${link.url} did not answer in JSON-RPC: "${excerpt(JSON.stringify(envelope))}"`);
  return reply.result;
}

function refusalOf(link: JsonRpcParts, method: string, error: JsonObject): Refusal {
  const code = typeof error.code === "number" ? error.code : 0;
  const fields = violationsOf(error.data);
  const message = `${asText(error.message) ?? "no reason given"}${fields && ` (${fields})`}`;
  return new Refusal(link.kindOfNumber(code), `${link.url} refused ${method}: ${message} [${code}]`, message);
}

/** v1 §9.5: which fields are wrong is told in a detail of type BadRequest. */
export function violationsOf(details: Json | undefined): string {
  return asList(details)
    .flatMap(detail => asList(asObject(detail).fieldViolations))
    .map(asObject)
    .map(one => `${asText(one.field)}: ${asText(one.description)}`)
    .join("; ");
}
