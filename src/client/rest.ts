import type { Json, JsonObject } from "../lib/json.ts";
import { trimEnd } from "../lib/trim-end.ts";
import { excerpt, RemoteError, type RemoteErrorKind } from "./errors.ts";
import { toHttpErrorKind } from "./faults.ts";
import {
  type ClientRequest,
  type HttpTarget,
  isEventStream,
  parseJson,
  readBody,
  readText,
  sendRequest,
  toHttpError,
} from "./http.ts";
import { violationsOf } from "./jsonrpc.ts";
import { CLIENT_LIMITS } from "./limits.ts";
import { asList, asObject, asText } from "./read.ts";
import { readSse } from "./sse.ts";
import type { Transport, TransportEvent, TransportRequest } from "./transport.ts";

export interface RestTarget extends HttpTarget {
  /** The prefix of every path: `/v1` in v0.3. */
  readonly pathPrefix: string;
  readonly mediaType: string;
}

/** v1 §11.3, v0.3 §3.5.3. Braces mark a parameter. */
const PATHS: Readonly<Record<string, readonly [method: ClientRequest["method"], path: string]>> = {
  SendMessage: ["POST", "/message:send"],
  SendStreamingMessage: ["POST", "/message:stream"],
  ListTasks: ["GET", "/tasks"],
  GetTask: ["GET", "/tasks/{id}"],
  CancelTask: ["POST", "/tasks/{id}:cancel"],
  SubscribeToTask: ["POST", "/tasks/{id}:subscribe"],
};

export function createRest(target: RestTarget): Transport {
  return {
    async call(request, signal) {
      const response = await sendAndCheck(target, request, { accept: target.mediaType }, signal);
      return parseJson(target.url, await readText(target.url, response));
    },
    stream: (request, lastEventId, signal) => stream(target, request, lastEventId, signal),
  };
}

async function* stream(
  target: RestTarget,
  request: TransportRequest,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<TransportEvent> {
  const headers = { accept: "text/event-stream", ...(lastEventId && { "last-event-id": lastEventId }) };
  const response = await sendAndCheck(target, request, headers, signal);
  if (!isEventStream(response)) {
    yield { result: parseJson(target.url, await readText(target.url, response)) };
    return;
  }
  for await (const event of readSse(readBody(target.url, response), CLIENT_LIMITS.eventCharsMax)) {
    const result = parseJson(target.url, event.data);
    if (event.event === "error" || asObject(result).error)
      throw toRemoteError(target, request, 0, event.data);
    yield event.id === undefined ? { result } : { id: event.id, result };
  }
}

async function sendAndCheck(
  target: RestTarget,
  request: TransportRequest,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> {
  const http = toRequest(target, request, headers);
  const response = await sendRequest(target, http, signal);
  if (response.ok) return response;
  const text = await readText(http.url, response);
  const { status } = response;
  if (status === 401 || status === 429 || status >= 500 || !isJson(text))
    throw toHttpError(http.url, response, text);
  throw toRemoteError(target, request, status, text);
}

function toRequest(
  target: RestTarget,
  request: TransportRequest,
  more: Readonly<Record<string, string>>,
): ClientRequest {
  const [method, path] = PATHS[request.method] ?? ["POST", `/${request.method}`];
  const { id, tenant, ...rest } = request.params;
  const tenantPath = tenant === undefined ? "" : `/${encodeURIComponent(String(tenant))}`;
  const base = `${trimEnd(target.url, "/")}${target.pathPrefix}${tenantPath}`;
  const url = base + path.replace("{id}", encodeURIComponent(String(id)));
  const headers = { ...more, ...target.headers, ...request.headers };
  if (method === "GET") return { method, url: url + toQuery(rest), headers };
  return {
    method,
    url,
    headers: { "content-type": target.mediaType, ...headers },
    body: JSON.stringify(rest),
  };
}

function toQuery(params: JsonObject): string {
  const query = Object.entries(params).map(([name, value]) => [name, String(value)]);
  return query.length === 0 ? "" : `?${new URLSearchParams(query)}`;
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

const REASONS: Readonly<Record<string, RemoteErrorKind>> = {
  TASK_NOT_FOUND: "task-not-found",
  UNSUPPORTED_OPERATION: "unsupported",
  METHOD_NOT_FOUND: "unsupported",
  UNAUTHENTICATED: "unauthenticated",
};

/** v1 §11.6 has an object `error` with details; servers of v0.3 send the JSON-RPC error without an envelope. */
function toRemoteError(
  target: RestTarget,
  { method }: TransportRequest,
  status: number,
  text: string,
): RemoteError {
  const body = asObject(JSON.parse(text) as Json);
  const error = body.error ? asObject(body.error) : body;
  const { details } = error;
  const reasons = asList(details).map(one => asText(asObject(one).reason) ?? "");
  const kind = reasons.map(reason => REASONS[reason]).find(Boolean) ?? toHttpErrorKind(status, error.code);
  const message = asText(error.message) ?? excerpt(text);
  const fields = violationsOf(details, message);
  const detail = `${message}${fields && ` (${fields})`}`;
  return new RemoteError(kind, `${target.url} refused ${method}: ${detail} [HTTP ${status}]`, detail);
}
