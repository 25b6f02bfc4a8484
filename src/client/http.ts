import type { Json } from "../lib/json.ts";
import type { Fetch } from "../ports/index.ts";
import {
  ClientError,
  codeOf,
  type ErrorCategory,
  excerpt,
  messageOf,
  RemoteError,
  UnavailableError,
} from "./errors.ts";
import { HTTP_FAULTS } from "./faults.ts";
import { CLIENT_LIMITS } from "./limits.ts";
import { asObject, asText } from "./read.ts";

type HeaderRecord = Readonly<Record<string, string>>;

/** How requests are sent and authenticated. */
export interface HttpAccess {
  readonly fetch: Fetch;
  /** Authentication headers. `refused`: the server answered 401 to the last ones. */
  credentials(refused: boolean): Promise<HeaderRecord>;
}

/** The URL of an agent, with its authentication. */
export interface HttpTarget extends HttpAccess {
  readonly url: string;
  /** Headers of every request. */
  readonly headers: HeaderRecord;
}

export interface ClientRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderRecord;
  readonly body?: string;
}

/** After HTTP 401 the request is sent once more if there are new credentials. */
export async function sendRequest(
  access: HttpAccess,
  request: ClientRequest,
  signal: AbortSignal,
): Promise<Response> {
  const credentials = await access.credentials(false);
  const response = await fetchOrThrow(access.fetch, request, credentials, signal);
  if (response.status !== 401) return response;
  const fresh = await access.credentials(true);
  if (JSON.stringify(fresh) === JSON.stringify(credentials)) return response;
  await response.body?.cancel();
  return fetchOrThrow(access.fetch, request, fresh, signal);
}

/** Network errors become errors that name the URL and the cause. */
async function fetchOrThrow(
  fetch: Fetch,
  request: ClientRequest,
  credentials: HeaderRecord,
  signal: AbortSignal,
): Promise<Response> {
  const { method, url, headers, body } = request;
  try {
    return await fetch(url, {
      method,
      headers: { ...headers, ...credentials },
      redirect: "manual",
      signal,
      ...(body !== undefined && { body }),
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw toNetworkError(url, error);
  }
}

/** A refused private address is not an `UnavailableError`: it stays refused however often the call is retried. */
function toNetworkError(url: string, error: unknown): ClientError {
  if (codeOf(error) === "ADDRESS_REFUSED")
    return new ClientError(`${url} is not called: it is a private address`, error, "private-address");
  const [message, category] = describeFailure(url, error);
  return new UnavailableError(message, shortReason(error), { cause: error, category });
}

/** The network error inside the `fetch failed` of Node. */
const shortReason = (error: unknown): string =>
  codeOf(error) === "ECONNREFUSED" ? "connection refused" : messageOf((error as Error).cause ?? error);

/** The errors of Node by their codes; a browser does not say what failed. */
const FAILURES: Readonly<Record<string, readonly [string, ErrorCategory]>> = {
  ECONNREFUSED: ["Nothing answers at", "connection-refused"],
  ENOTFOUND: ["Unknown host in", "unknown-host"],
  EAI_AGAIN: ["Unknown host in", "unknown-host"],
  UND_ERR_HEADERS_TIMEOUT: ["No response from", "timeout"],
};

function describeFailure(url: string, error: unknown): readonly [string, (ErrorCategory | undefined)?] {
  const code = codeOf(error) ?? "";
  const reason = shortReason(error);
  const [what, category] = FAILURES[code] ?? [];
  if (what) return [`${what} ${url}: ${reason}`, category];
  const message = `${url} could not be reached: ${reason}`;
  // A parse error, or a connection that was closed before any response.
  const isNotHttp =
    code === "UND_ERR_SOCKET" || ((error as Error).cause as Error)?.name === "HTTPParserError";
  return isNotHttp ? [message, "not-http"] : [message];
}

/** The request cannot have been processed, so that a retry does nothing twice. */
export const isUnsent = (error: unknown): boolean =>
  error instanceof UnavailableError &&
  (error.category === "connection-refused" ||
    error.category === "unknown-host" ||
    error.retryAfterMs !== undefined);

/** The bytes of a body; a broken connection is an `UnavailableError`. */
export async function* readBody(url: string, response: Response): AsyncGenerator<Uint8Array> {
  if (!response.body) return;
  const reader = response.body.getReader();
  try {
    for (let step = await readChunk(url, reader); !step.done; step = await readChunk(url, reader))
      yield step.value;
  } finally {
    // A reader that stops early releases the connection; it may be closed already.
    await reader.cancel().catch(() => undefined);
  }
}

type Chunks = ReadableStreamDefaultReader<Uint8Array>;
async function readChunk(url: string, reader: Chunks) {
  try {
    return await reader.read();
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    throw new UnavailableError(`The connection to ${url} broke: ${shortReason(error)}`, shortReason(error), {
      cause: error,
    });
  }
}

export async function readText(url: string, response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of readBody(url, response)) {
    bytes += chunk.byteLength;
    if (bytes > CLIENT_LIMITS.answerBytesMax)
      throw new ClientError(`${url} sent more than ${CLIENT_LIMITS.answerBytesMax} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

export function parseJson(url: string, text: string): Json {
  const json = findJson(text);
  if (json === undefined) throw notFromAgent(`${url} did not respond with JSON`, text);
  return json;
}

/** undefined: it is not JSON. */
export function findJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export const notFromAgent = (problem: string, text: string): ClientError =>
  new ClientError(`${problem}: "${excerpt(text)}". Is this the address of an A2A agent?`);

export const isEventStream = (response: Response): boolean =>
  response.headers.get("content-type")?.includes("text/event-stream") ?? false;

const CATEGORIES: Readonly<Record<number, ErrorCategory>> = {
  403: "forbidden",
  404: "not-found",
  405: "not-found",
  413: "too-large",
  429: "rate-limited",
};

/** The error of a response that has an HTTP status and no A2A error. */
export function toHttpError(url: string, response: Response, text: string): ClientError {
  const { status: code, statusText } = response;
  const location = response.headers.get("location");
  const reason = readReason(text);
  const status = `HTTP ${code}${statusText && ` ${statusText}`}`;
  const redirect = location ? `. It redirects to ${location}: call that URL` : "";
  const body = reason ?? excerpt(text);
  const quoted = reason === undefined && body !== "" ? `"${body}"` : body;
  const message = `${url} answered ${status}${quoted && `: ${quoted}`}${redirect}`;
  // A server that says what is not there needs no hint about its URL.
  const category = location || (code === 404 && reason !== undefined) ? undefined : CATEGORIES[code];
  if (code < 500 && code !== 429) {
    const fault = code === 404 ? undefined : HTTP_FAULTS[code];
    return fault
      ? new RemoteError(fault, message, "", category)
      : new ClientError(message, undefined, category);
  }
  return new UnavailableError(message, status, { category, retryAfterMs: readRetryAfter(response) });
}

/** The sentence in a JSON error: `{"error":{"message":"…"}}`, `{"error":"…"}`, `{"message":"…"}`, `{"detail":"…"}`. */
function readReason(text: string): string | undefined {
  const { error, message, detail } = asObject(findJson(text));
  const reason = [asObject(error).message, error, message, detail].map(asText).find(one => one !== undefined);
  return reason ? excerpt(reason) : undefined;
}

/** RFC 9110 §10.2.3, seconds only. 503 and 429 without the header: the request was not processed either. */
function readRetryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  if (seconds >= 0) return Math.min(seconds * 1_000, CLIENT_LIMITS.retryAfterMsMax);
  return response.status === 503 || response.status === 429 ? 0 : undefined;
}
