import type { Json, JsonObject } from "../lib/json.ts";
import type { FaultCode } from "../model/index.ts";
import { ClientError, excerpt, type RemoteError } from "./errors.ts";
import { readEvents, streamHeaders } from "./event-stream.ts";
import { toRefusal } from "./faults.ts";
import {
  findJson,
  type HttpTarget,
  isEventStream,
  parseJson,
  readText,
  sendRequest,
  toHttpError,
} from "./http.ts";
import { asObject, asText } from "./read.ts";
import type { Transport, TransportEvent, TransportRequest } from "./transport.ts";

export interface JsonRpcTarget extends HttpTarget {
  toFault(number: number): FaultCode | undefined;
  /** Events of a stream have no JSON-RPC envelope. */
  readonly unwrappedFrames: boolean;
}

export function createJsonRpc(target: JsonRpcTarget): Transport {
  return {
    async call(request, signal) {
      const response = await post(target, request, { accept: "application/json" }, signal);
      return resultOf(target, request.method, await readJson(target.url, response));
    },
    stream: (request, lastEventId, signal) => stream(target, request, lastEventId, signal),
  };
}

async function* stream(
  target: JsonRpcTarget,
  request: TransportRequest,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<TransportEvent> {
  const response = await post(target, request, streamHeaders(lastEventId), signal);
  if (!isEventStream(response)) {
    // An error before the stream begins is plain JSON (v1 §3.1.2).
    yield { result: resultOf(target, request.method, await readJson(target.url, response)) };
    return;
  }
  yield* readEvents(target.url, response, envelope => {
    const isUnwrapped = target.unwrappedFrames && asObject(envelope).jsonrpc === undefined;
    return isUnwrapped ? envelope : resultOf(target, request.method, envelope);
  });
}

const post = (
  target: JsonRpcTarget,
  { method, params, headers, metadata }: TransportRequest,
  more: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> =>
  sendRequest(
    target,
    {
      method: "POST",
      url: target.url,
      headers: { "content-type": "application/json", ...more, ...target.headers, ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params, ...(metadata && { metadata }) }),
    },
    signal,
  );

/** Servers send JSON-RPC errors with any HTTP status, so the body decides. */
async function readJson(url: string, response: Response): Promise<Json> {
  const text = await readText(url, response);
  if (response.ok) return parseJson(url, text);
  const json = asObject(findJson(text));
  // Missing authentication and overload are recognized by the HTTP status.
  const isHttpError = response.status === 401 || response.status === 429 || response.status === 503;
  if (isHttpError || asObject(json.error).code === undefined || !json.jsonrpc)
    throw toHttpError(url, response, text);
  return json;
}

function resultOf(target: JsonRpcTarget, method: string, envelope: Json): Json {
  const reply = asObject(envelope);
  if (reply.error) throw toRemoteError(target, method, asObject(reply.error));
  if (reply.result === undefined)
    throw new ClientError(
      `${target.url} did not respond with JSON-RPC: "${excerpt(JSON.stringify(envelope))}"`,
    );
  return reply.result;
}

function toRemoteError({ url, toFault }: JsonRpcTarget, method: string, error: JsonObject): RemoteError {
  const code = typeof error.code === "number" ? error.code : 0;
  const reason = asText(error.message) ?? "no reason given";
  return toRefusal({ url, method, reason, details: error.data, fault: toFault(code), status: `${code}` });
}
