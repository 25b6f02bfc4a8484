import { LIMITS } from "../model/index.ts";
import type { Fetch } from "../ports/index.ts";
import { readRetryAfter } from "./backoff.ts";
import type { PushRequest } from "./request.ts";

/** "refused": the address is blocked, so that a retry is pointless. "stopped": the server shut down meanwhile. */
export interface AttemptResult {
  readonly kind: "taken" | "gone" | "failed" | "refused" | "stopped";
  readonly status?: number;
  readonly error?: string;
  readonly retryAfterMs: number;
}

export interface AttemptParts {
  readonly fetch: Fetch;
  readonly wallTime: () => number;
  readonly pushTimeoutMs: number;
}

export async function attemptDelivery(
  parts: AttemptParts,
  { url, headers, body }: PushRequest,
  stop: AbortSignal,
): Promise<AttemptResult> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const timer = setTimeout(abort, parts.pushTimeoutMs);
  stop.addEventListener("abort", abort, { once: true });
  try {
    const { signal } = controller;
    const response = await parts.fetch(url, { method: "POST", headers, body, signal });
    // The status decides: an error in the body does not matter.
    await drain(response).catch(() => {});
    return toResult(response, parts.wallTime());
  } catch (error) {
    if (stop.aborted) return { kind: "stopped", retryAfterMs: 0 };
    if (controller.signal.aborted)
      return { kind: "failed", error: `no response within ${parts.pushTimeoutMs} ms`, retryAfterMs: 0 };
    return { ...explain(error), retryAfterMs: 0 };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", abort);
  }
}

function toResult({ status, headers }: Response, now: number): AttemptResult {
  if (status >= 200 && status < 300) return { kind: "taken", status, retryAfterMs: 0 };
  if (status === 410) return { kind: "gone", status, error: "HTTP 410 (Gone)", retryAfterMs: 0 };
  const isRedirect = status >= 300 && status < 400;
  const error = isRedirect ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
  return { kind: "failed", status, error, retryAfterMs: readRetryAfter(headers.get("retry-after"), now) };
}

/** A connection can be reused only when the whole response was read. */
async function drain({ body }: Response): Promise<void> {
  if (!body) return;
  const reader = body.getReader();
  for (let bytes = 0; bytes <= LIMITS.pushResponseBytesMax; ) {
    const { value, done } = await reader.read();
    if (done) return;
    bytes += value.byteLength;
  }
  await reader.cancel();
}

const ERRORS: Readonly<Record<string, string>> = {
  ADDRESS_REFUSED: "the address is blocked by this server",
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  UND_ERR_SOCKET: "connection reset",
  UND_ERR_CONNECT_TIMEOUT: "connection timeout",
  ENOTFOUND: "host not found",
  ENODATA: "the host has no address",
  EAI_AGAIN: "DNS lookup failed",
  ETIMEOUT: "DNS lookup failed",
  ESERVFAIL: "DNS lookup failed",
};
const ERROR_CHARS_MAX = 200;

function explain(error: unknown): { readonly kind: "failed" | "refused"; readonly error: string } {
  const cause = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
  const text = ERRORS[cause.code ?? ""] ?? cause.message ?? String(cause);
  const kind = cause.code === "ADDRESS_REFUSED" ? "refused" : "failed";
  return { kind, error: text.slice(0, ERROR_CHARS_MAX) };
}
