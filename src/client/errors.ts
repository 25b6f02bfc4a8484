import type { FaultCode } from "../model/index.ts";

/** A call to an agent failed. The message is for the user: it is shown on its own, without a stack. */
export class ClientError extends Error {
  /** The common causes, for which a caller such as the CLI can suggest a remedy. */
  readonly category: ErrorCategory | undefined;
  /** The error by its name in Dragoman, whatever its number in the dialect; undefined: it has none. */
  readonly code: FaultCode | undefined;
  constructor(message: string, cause?: unknown, category?: ErrorCategory, code?: FaultCode) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ClientError";
    this.category = category;
    this.code = code;
  }
}

export type ErrorCategory =
  | "private-address"
  | "connection-refused"
  | "unknown-host"
  | "timeout"
  | "not-http"
  | "unauthenticated"
  | "forbidden"
  | "not-found"
  | "too-large"
  | "rate-limited";

/** The agent received the call and answered with an error. */
export class RemoteError extends ClientError {
  /** The error message of the agent itself, without URL and method; empty: there is none. */
  readonly detail: string;
  constructor(code: FaultCode | undefined, message: string, detail = "", category?: ErrorCategory) {
    super(message, undefined, code === "unauthenticated" ? code : category, code);
    this.name = "RemoteError";
    this.detail = detail;
  }
}

/** The agent, or the task in its state, does not have this operation; another one may do. */
export const isUnsupported = (error: unknown): boolean =>
  error instanceof RemoteError &&
  (error.code === "unsupported-operation" || error.code === "method-not-found");

/** The agent was not reached, the connection broke, or the server is overloaded: a retry may succeed. */
export class UnavailableError extends ClientError {
  /** A few words for the log line of a retry. */
  readonly reason: string;
  /** From the `Retry-After` header. */
  readonly retryAfterMs: number | undefined;
  constructor(message: string, reason: string, details: UnavailableDetails = {}) {
    const code = details.category === "rate-limited" ? details.category : "unavailable";
    super(message, details.cause, details.category, code);
    this.name = "UnavailableError";
    this.reason = reason;
    this.retryAfterMs = details.retryAfterMs;
  }
}
interface UnavailableDetails {
  readonly cause?: unknown;
  readonly category?: ErrorCategory | undefined;
  readonly retryAfterMs?: number | undefined;
}

const EXCERPT_CHARS = 200;

/** The first characters of a response, on one line. */
export function excerpt(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > EXCERPT_CHARS ? `${line.slice(0, EXCERPT_CHARS)}…` : line;
}

/** The first error code in the chain of causes: `fetch` wraps network errors (`fetch failed`). */
export function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === "string") return code;
  }
  return undefined;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
