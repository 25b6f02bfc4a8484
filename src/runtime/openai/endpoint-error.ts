/** Errors of an endpoint: whether they are retried, and what the caller is told. */
import { isObject, type Json } from "../../lib/json.ts";
import { readBytes } from "../shared/files.ts";
import { CONTENT_FILTERED } from "../shared/finish-reason.ts";

export class EndpointError extends Error {
  override readonly name = "EndpointError";
  readonly isRetryable: boolean;
  /** From the `Retry-After` header. */
  readonly retryAfterMs: number | undefined;
  /** undefined: the caller cannot do anything about it. */
  readonly callerMessage: string | undefined;

  constructor(
    message: string,
    details: Partial<Pick<EndpointError, "isRetryable" | "retryAfterMs" | "callerMessage" | "cause">>,
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.isRetryable = details.isRetryable ?? false;
    this.retryAfterMs = details.retryAfterMs;
    this.callerMessage = details.callerMessage;
  }

  /** Endpoints may repeat the API key in their errors. */
  without(secret: string | undefined): EndpointError {
    return secret ? new EndpointError(this.message.replaceAll(secret, "[key]"), this) : this;
  }
}

const TOO_LONG = "The conversation is too long for the model: send less, or start a new context";

const toUnavailable = (retryAfterMs: number | undefined): string => {
  const when = retryAfterMs === undefined ? "later" : `in ${Math.ceil(retryAfterMs / 1_000)} seconds`;
  return `The model is not available at the moment: try again ${when}`;
};

/** No response, or an incomplete one. */
export const connectionError = (message: string, cause?: unknown): EndpointError =>
  new EndpointError(message, { isRetryable: true, callerMessage: toUnavailable(undefined), cause });

const ERROR_BYTES_MAX = 64 * 1024;
const ERROR_CHARS_MAX = 2_000;

export async function toEndpointError(response: Response): Promise<EndpointError> {
  const { status, headers } = response;
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    const location = headers.get("location");
    return new EndpointError(`The endpoint redirects to ${location}: set baseUrl to that URL`, {});
  }
  const bytes = await readBytes(response, ERROR_BYTES_MAX).catch(() => new Uint8Array());
  return toError(parseBody(new TextDecoder().decode(bytes)), status, readRetryAfter(headers));
}

/** An error in the middle of a stream, after the HTTP status was sent. */
export function toStreamError(error: Json): EndpointError {
  const { code, status } = isObject(error) ? error : {};
  const number = [code, status].map(Number).find(one => one >= 400 && one < 600);
  return toError({ text: readText(error), code: readCode(error) }, number ?? 500, undefined);
}

interface ErrorBody {
  readonly text: string;
  readonly code: string;
}

function toError({ text, code }: ErrorBody, status: number, retryAfterMs: number | undefined): EndpointError {
  const message = `The endpoint responded with HTTP ${status}: ${text}${code && ` (${code})`}`;
  if (/content_filter|content_policy/.test(code))
    return new EndpointError(message, { callerMessage: CONTENT_FILTERED });
  const isTooLong = /context_length|string_above_max/.test(code) || (status < 429 && LONG.test(text));
  if (status === 413 || isTooLong) return new EndpointError(message, { callerMessage: TOO_LONG });
  // An empty account stays empty however often the request is retried.
  const isRetryable = (RETRYABLE.has(status) || status >= 500) && code !== "insufficient_quota";
  if (!isRetryable) return new EndpointError(message, {});
  return new EndpointError(message, {
    isRetryable,
    retryAfterMs,
    callerMessage: toUnavailable(retryAfterMs),
  });
}

const RETRYABLE: ReadonlySet<number> = new Set([408, 409, 425, 429]);
const LONG = /context (?:length|window|size)|maximum context|too many tokens|prompt is too long/i;

function parseBody(body: string): ErrorBody {
  try {
    const json = JSON.parse(body) as Json;
    const error = isObject(json) ? (json.error ?? json) : json;
    return { text: readText(error), code: readCode(error) };
  } catch {
    return { text: body.slice(0, ERROR_CHARS_MAX), code: "" };
  }
}

function readText(error: Json): string {
  const text = isObject(error) ? (error.message ?? error.detail ?? error) : error;
  return (typeof text === "string" ? text : JSON.stringify(text)).slice(0, ERROR_CHARS_MAX);
}

function readCode(error: Json): string {
  const { code, type } = isObject(error) ? error : {};
  const found = [code, type].find(one => typeof one === "string");
  return typeof found === "string" ? found : "";
}

/** RFC 9110 §10.2.3: seconds, or a date, which is relative to the clock of the endpoint. */
function readRetryAfter(headers: Headers): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return ms;
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(after)) return Number(after) * 1_000;
  const delayMs = Date.parse(after) - Date.parse(headers.get("date") ?? "");
  return Number.isNaN(delayMs) ? undefined : Math.max(delayMs, 0);
}
