import type { Json, JsonObject } from "../lib/json.ts";
import { trimEnd } from "../lib/trim-end.ts";
import { excerpt, Refusal, type RefusalKind } from "./errors.ts";
import { kindOfStatus } from "./faults.ts";
import { bodyOf, httpTrouble, isStream, type Link, parse, type Request, readText, request } from "./http.ts";
import { violationsOf } from "./jsonrpc.ts";
import { CLIENT_LIMITS } from "./limits.ts";
import { asList, asObject, asText } from "./read.ts";
import { readSse } from "./sse.ts";
import type { Asked, Piece, Transport } from "./transport.ts";

export interface RestParts extends Link {
  /** What stands between the address and every path: `/v1` in v0.3. */
  readonly below: string;
  readonly mediaType: string;
}

/** v1 §11.3, v0.3 §3.5.3. What is in braces is a parameter. */
const PATHS: Readonly<Record<string, readonly [verb: Request["verb"], path: string]>> = {
  SendMessage: ["POST", "/message:send"],
  SendStreamingMessage: ["POST", "/message:stream"],
  ListTasks: ["GET", "/tasks"],
  GetTask: ["GET", "/tasks/{id}"],
  CancelTask: ["POST", "/tasks/{id}:cancel"],
  SubscribeToTask: ["POST", "/tasks/{id}:subscribe"],
};

export function createRest(link: RestParts): Transport {
  return {
    async call(asked, signal) {
      const response = await ask(link, asked, { accept: link.mediaType }, signal);
      return parse(link.url, await readText(link.url, response));
    },
    stream: (asked, lastEventId, signal) => stream(link, asked, lastEventId, signal),
  };
}

async function* stream(
  link: RestParts,
  asked: Asked,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  const headers = { accept: "text/event-stream", ...(lastEventId && { "last-event-id": lastEventId }) };
  const response = await ask(link, asked, headers, signal);
  if (!isStream(response)) {
    yield { result: parse(link.url, await readText(link.url, response)) };
    return;
  }
  for await (const event of readSse(bodyOf(link.url, response), CLIENT_LIMITS.eventCharsMax)) {
    const result = parse(link.url, event.data);
    if (event.event === "error" || asObject(result).error) throw refusalOf(link, asked, 0, event.data);
    yield event.id === undefined ? { result } : { id: event.id, result };
  }
}

async function ask(
  link: RestParts,
  asked: Asked,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> {
  const wanted = toRequest(link, asked, headers);
  const response = await request(link, wanted, signal);
  if (response.ok) return response;
  const text = await readText(wanted.url, response);
  const { status } = response;
  if (status === 401 || status === 429 || status >= 500 || !isJson(text))
    throw httpTrouble(wanted.url, response, text);
  throw refusalOf(link, asked, status, text);
}

function toRequest(link: RestParts, asked: Asked, more: Readonly<Record<string, string>>): Request {
  const [verb, path] = PATHS[asked.method] ?? ["POST", `/${asked.method}`];
  const { id, tenant, ...rest } = asked.params;
  const whose = tenant === undefined ? "" : `/${encodeURIComponent(String(tenant))}`;
  const below = `${trimEnd(link.url, "/")}${link.below}${whose}`;
  const url = below + path.replace("{id}", encodeURIComponent(String(id)));
  const headers = { ...more, ...link.headers, ...asked.headers };
  if (verb === "GET") return { verb, url: url + toQuery(rest), headers };
  return { verb, url, headers: { "content-type": link.mediaType, ...headers }, body: JSON.stringify(rest) };
}

function toQuery(params: JsonObject): string {
  const said = Object.entries(params).map(([name, value]) => [name, String(value)]);
  return said.length === 0 ? "" : `?${new URLSearchParams(said)}`;
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

const REASONS: Readonly<Record<string, RefusalKind>> = {
  TASK_NOT_FOUND: "task-not-found",
  UNSUPPORTED_OPERATION: "unsupported",
  METHOD_NOT_FOUND: "unsupported",
  UNAUTHENTICATED: "unauthenticated",
};

/** v1 §11.6 has an object `error` with details; v0.3's servers send the error of JSON-RPC, bare. */
function refusalOf(link: RestParts, { method }: Asked, status: number, text: string): Refusal {
  const body = asObject(JSON.parse(text) as Json);
  const error = body.error ? asObject(body.error) : body;
  const { details } = error;
  const reasons = asList(details).map(one => asText(asObject(one).reason) ?? "");
  const kind = reasons.map(reason => REASONS[reason]).find(Boolean) ?? kindOfStatus(status, error.code);
  const fields = violationsOf(details);
  const said = `${asText(error.message) ?? excerpt(text)}${fields && ` (${fields})`}`;
  return new Refusal(kind, `${link.url} refused ${method}: ${said} [HTTP ${status}]`, said);
}
