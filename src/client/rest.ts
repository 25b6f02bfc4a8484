import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { trimEnd } from "../lib/trim-end.ts";
import { REST_PATHS } from "../protocol/shared/rest-paths.ts";
import { excerpt, type RemoteError } from "./errors.ts";
import { readEvents, streamHeaders } from "./event-stream.ts";
import { findFault, HTTP_FAULTS, toRefusal } from "./faults.ts";
import {
  type ClientRequest,
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

export interface RestTarget extends HttpTarget {
  /** The prefix of every path: `/v1` in v0.3. */
  readonly pathPrefix: string;
  readonly mediaType: string;
}

/** Of two paths of one method the second: a subscription is a POST (v1 §11.3). */
function findPath(name: string): readonly [verb: string, path: string] {
  const [verb, path] = REST_PATHS.findLast(([, , method]) => method === name) ?? [];
  return [verb ?? "POST", path ?? `/${name}`];
}

export function createRest(target: RestTarget): Transport {
  return {
    async call(request, signal) {
      const response = await sendAndCheck(target, request, { accept: target.mediaType }, signal);
      const text = await readText(target.url, response);
      // A deletion has no content.
      return text === "" ? null : parseJson(target.url, text);
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
  const response = await sendAndCheck(target, request, streamHeaders(lastEventId), signal);
  if (!isEventStream(response)) {
    yield { result: parseJson(target.url, await readText(target.url, response)) };
    return;
  }
  yield* readEvents(target.url, response, (result, event) => {
    if (event === "error" || asObject(result).error) throw toRemoteError(target, request, 0, result);
    return result;
  });
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
  const json = status === 401 || status === 429 || status >= 500 ? undefined : findJson(text);
  throw isObject(json) ? toRemoteError(target, request, status, json) : toHttpError(http.url, response, text);
}

function toRequest(
  target: RestTarget,
  request: TransportRequest,
  more: Readonly<Record<string, string>>,
): ClientRequest {
  const [method, template] = findPath(request.method);
  const { tenant, ...rest }: Record<string, Json> = { ...request.params };
  const tenantPath = tenant === undefined ? "" : "/{tenant}";
  const path = `${tenantPath}${template}`.replace(/\{(\w+)\}/g, (_, name: string) => {
    delete rest[name];
    return encodeURIComponent(String(request.params[name]));
  });
  const url = `${trimEnd(target.url, "/")}${target.pathPrefix}${path}`;
  const headers = { ...more, ...target.headers, ...request.headers };
  if (method !== "POST") return { method, url: url + toQuery(rest), headers };
  return {
    method,
    url,
    headers: { "content-type": target.mediaType, ...headers },
    body: JSON.stringify(rest),
  };
}

function toQuery(params: JsonObject): string {
  const query = `${new URLSearchParams(params as Record<string, string>)}`;
  return query && `?${query}`;
}

/** v1 §11.6 has an object `error` with details; servers of v0.3 send the JSON-RPC error without an envelope. */
function toRemoteError(
  { url }: RestTarget,
  { method }: TransportRequest,
  status: number,
  json: Json,
): RemoteError {
  const body = asObject(json);
  const { details, code, message } = body.error ? asObject(body.error) : body;
  const reason = asText(message) ?? excerpt(JSON.stringify(json));
  const fault = (typeof code === "number" && findFault(code)) || HTTP_FAULTS[status];
  return toRefusal({ url, method, reason, details, fault, status: `HTTP ${status}` });
}
