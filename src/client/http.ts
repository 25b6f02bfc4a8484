import type { Json } from "../lib/json.ts";
import type { Fetch } from "../ports/index.ts";
import { codeOf, excerpt, Lost, messageOf, Refusal, type Symptom, Trouble } from "./errors.ts";
import { CLIENT_LIMITS } from "./limits.ts";

type Headers = Readonly<Record<string, string>>;

/** How calls get out. */
export interface Access {
  readonly fetch: Fetch;
  /** Headers that say who calls. `refused`: those that were sent last did not do. */
  credentials(refused: boolean): Promise<Headers>;
}

/** Where calls go. */
export interface Link extends Access {
  readonly url: string;
  /** Those of every call. */
  readonly headers: Headers;
}

export interface Request {
  readonly verb: "GET" | "POST";
  readonly url: string;
  readonly headers: Headers;
  readonly body?: string;
}

/** Says who calls; whoever is no longer believed asks for new credentials, once. */
export async function request(link: Access, asked: Request, signal: AbortSignal): Promise<Response> {
  const credentials = await link.credentials(false);
  const response = await dispatch(link.fetch, asked, credentials, signal);
  if (response.status !== 401) return response;
  const fresh = await link.credentials(true);
  if (JSON.stringify(fresh) === JSON.stringify(credentials)) return response;
  await response.body?.cancel();
  return dispatch(link.fetch, asked, fresh, signal);
}

/** Fetch with an error that says which URL, and what happened. */
async function dispatch(
  fetchIt: Fetch,
  asked: Request,
  credentials: Headers,
  signal: AbortSignal,
): Promise<Response> {
  const { verb: method, url, headers, body } = asked;
  try {
    return await fetchIt(url, {
      method,
      headers: { ...headers, ...credentials },
      redirect: "manual",
      signal,
      ...(body !== undefined && { body }),
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw toTrouble(url, error);
  }
}

/** What is forbidden stays forbidden, however often one tries. */
function toTrouble(url: string, error: unknown): Trouble {
  if (codeOf(error) === "ADDRESS_REFUSED")
    return new Trouble(`${url} is not called: it is an address inside`, error, "inside");
  const [message, symptom] = describe(url, error);
  return new Lost(message, shortly(error), { cause: error, symptom });
}

/** What the network said, without the words that Node wraps it in. */
const shortly = (error: unknown): string =>
  codeOf(error) === "ECONNREFUSED" ? "connection refused" : messageOf((error as Error).cause ?? error);

function describe(url: string, error: unknown): readonly [string, Symptom?] {
  const code = codeOf(error);
  switch (code) {
    case "ECONNREFUSED":
      return [`Nothing answers at ${url}: connection refused`, "refused"];
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return [`The host of ${url} is not known`, "unknown-host"];
    case "UND_ERR_HEADERS_TIMEOUT":
      return [`No answer from ${url} in five minutes`, "silent"];
    default: {
      // A parse error of HTTP, or a connection that was closed before any answer.
      const isNoHttp =
        code === "UND_ERR_SOCKET" ||
        ((error as Error).cause as Error | undefined)?.name === "HTTPParserError";
      const message = `${url} could not be reached: ${shortly(error)}`;
      return isNoHttp ? [message, "no-http"] : [message];
    }
  }
}

/** Whether the call cannot have arrived: then it can be made again without doing anything twice. */
export const isUnsent = (error: unknown): boolean =>
  error instanceof Lost &&
  (error.symptom === "refused" || error.symptom === "unknown-host" || error.retryAfterMs !== undefined);

/** The bytes of a body; a connection that breaks in the middle is told apart from a bug of ours. */
export async function* bodyOf(url: string, response: Response): AsyncGenerator<Uint8Array> {
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
    throw new Lost(`The connection to ${url} broke: ${shortly(error)}`, shortly(error), { cause: error });
  }
}

export async function readText(url: string, response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of bodyOf(url, response)) {
    bytes += chunk.byteLength;
    if (bytes > CLIENT_LIMITS.answerBytesMax)
      throw new Trouble(`${url} sent more than ${CLIENT_LIMITS.answerBytesMax} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

export function parse(url: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Trouble(
      `${url} did not answer with JSON: "${excerpt(text)}". Is this the address of an A2A agent?`,
    );
  }
}

export const isStream = (response: Response): boolean =>
  response.headers.get("content-type")?.includes("text/event-stream") ?? false;

const SYMPTOMS: Readonly<Record<number, Symptom>> = {
  401: "unauthenticated",
  403: "forbidden",
  404: "missing",
  405: "missing",
  413: "large",
  429: "many",
};

/** What an answer means that has a status and no words of the protocol. */
export function httpTrouble(url: string, response: Response, text: string): Trouble {
  const { status: code, statusText } = response;
  const location = response.headers.get("location");
  const said = excerpt(text);
  const status = `HTTP ${code}${statusText && ` ${statusText}`}`;
  const points = location ? `. It points to ${location}: call that address` : "";
  const message = `${url} answered ${status}${said && `: "${said}"`}${points}`;
  const symptom = location ? undefined : SYMPTOMS[code];
  if (code < 500 && code !== 429)
    return code === 401 ? new Refusal("unauthenticated", message) : new Trouble(message, undefined, symptom);
  return new Lost(message, status, { symptom, retryAfterMs: retryAfter(response) });
}

/** RFC 9110 §10.2.3: in seconds; a date is treated as nothing said. 503 without a word means as well: not now. */
function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  if (seconds >= 0) return Math.min(seconds * 1_000, CLIENT_LIMITS.retryAfterMsMax);
  return response.status === 503 || response.status === 429 ? 0 : undefined;
}
