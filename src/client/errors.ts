/** A call to an agent failed. The message is for the user: it is shown on its own, without a stack. */
export class ClientError extends Error {
  /** The common causes, for which a caller such as the CLI can suggest a remedy. */
  readonly category: ErrorCategory | undefined;
  constructor(message: string, cause?: unknown, category?: ErrorCategory) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ClientError";
    this.category = category;
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

/** The errors of an agent that callers act on. */
export type RemoteErrorKind = "task-not-found" | "unsupported" | "unauthenticated" | "other";

/** The agent received the call and answered with an error. */
export class RemoteError extends ClientError {
  readonly kind: RemoteErrorKind;
  /** The error message of the agent itself, without URL and method; empty: there is none. */
  readonly detail: string;
  constructor(kind: RemoteErrorKind, message: string, detail = "") {
    super(message, undefined, kind === "unauthenticated" ? kind : undefined);
    this.name = "RemoteError";
    this.kind = kind;
    this.detail = detail;
  }
}

/** The agent was not reached, the connection broke, or the server is overloaded: a retry may succeed. */
export class UnavailableError extends ClientError {
  /** A few words for the log line of a retry. */
  readonly reason: string;
  /** From the `Retry-After` header. */
  readonly retryAfterMs: number | undefined;
  constructor(message: string, reason: string, details: UnavailableDetails = {}) {
    super(message, details.cause, details.category);
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
