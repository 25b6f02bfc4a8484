/** What goes wrong with an endpoint, and what that means: try again, tell the caller, or leave it to whoever reads the log. */
import { isObject, type Json } from "../../lib/json.ts";
import { readBytes } from "../shared/files.ts";
import { FILTERED } from "../shared/finish-reason.ts";

export class EndpointError extends Error {
  override readonly name = "EndpointError";
  /** It may go better the next time. */
  readonly again: boolean;
  /** How long the endpoint wants to be left alone. */
  readonly waitMs: number | undefined;
  /** What the caller is told; undefined: nothing that a caller could do something about. */
  readonly words: string | undefined;

  constructor(message: string, facts: Partial<Pick<EndpointError, "again" | "waitMs" | "words" | "cause">>) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.again = facts.again ?? false;
    this.waitMs = facts.waitMs;
    this.words = facts.words;
  }

  /** The same without something that an endpoint may have repeated. */
  without(secret: string | undefined): EndpointError {
    return secret ? new EndpointError(this.message.replaceAll(secret, "[key]"), this) : this;
  }
}

const BUSY = "The model is not available at the moment: try again";
const TOO_LONG = "This is too much for the model: send less, or begin a new context";

export const busy = (waitMs: number | undefined): string =>
  `${BUSY} ${waitMs === undefined ? "later" : `in ${Math.ceil(waitMs / 1_000)} seconds`}`;

/** Nothing came, or no more. */
export const broken = (message: string, cause?: unknown): EndpointError =>
  new EndpointError(message, { again: true, words: busy(undefined), cause });

const ERROR_BYTES_MAX = 64 * 1024;
const ERROR_CHARS_MAX = 2_000;

/** Of an answer that is none. */
export async function toEndpointError(response: Response): Promise<EndpointError> {
  const { status, headers } = response;
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    return new EndpointError(`It redirects to ${headers.get("location")}: put that into baseUrl`, {});
  }
  const bytes = await readBytes(response, ERROR_BYTES_MAX).catch(() => new Uint8Array());
  return toError(readText(new TextDecoder().decode(bytes)), status, waitMsOf(headers));
}

/** Of what an endpoint says in the middle of a stream: there the HTTP status is long gone. */
export function toStreamError(error: Json): EndpointError {
  const { code, status } = isObject(error) ? error : {};
  const number = [code, status].map(Number).find(one => one >= 400 && one < 600);
  return toError({ text: textIn(error), code: codeIn(error) }, number ?? 500, undefined);
}

interface Told {
  readonly text: string;
  readonly code: string;
}

function toError({ text, code }: Told, status: number, waitMs: number | undefined): EndpointError {
  const message = `The endpoint answered with HTTP ${status}: ${text}${code && ` (${code})`}`;
  if (/content_filter|content_policy/.test(code)) return new EndpointError(message, { words: FILTERED });
  if (status === 413 || /context_length|string_above_max/.test(code) || (status < 429 && LONG.test(text)))
    return new EndpointError(message, { words: TOO_LONG });
  // Waiting does not fill an account.
  const again = (AGAIN.has(status) || status >= 500) && code !== "insufficient_quota";
  return new EndpointError(message, again ? { again, waitMs, words: busy(waitMs) } : {});
}

const AGAIN: ReadonlySet<number> = new Set([408, 409, 425, 429]);
const LONG = /context (?:length|window|size)|maximum context|too many tokens|prompt is too long/i;

function readText(body: string): Told {
  try {
    const json = JSON.parse(body) as Json;
    const error = isObject(json) ? (json.error ?? json) : json;
    return { text: textIn(error), code: codeIn(error) };
  } catch {
    return { text: body.slice(0, ERROR_CHARS_MAX), code: "" };
  }
}

function textIn(error: Json): string {
  const text = isObject(error) ? (error.message ?? error.detail ?? error) : error;
  return (typeof text === "string" ? text : JSON.stringify(text)).slice(0, ERROR_CHARS_MAX);
}

function codeIn(error: Json): string {
  const { code, type } = isObject(error) ? error : {};
  const found = [code, type].find(one => typeof one === "string");
  return typeof found === "string" ? found : "";
}

/** RFC 9110 §10.2.3: seconds, or a date, which is measured by the endpoint's own clock. */
export function waitMsOf(headers: Headers): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return ms;
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(after)) return Number(after) * 1_000;
  const wait = Date.parse(after) - Date.parse(headers.get("date") ?? "");
  return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
}
