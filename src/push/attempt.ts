import { LIMITS } from "../model/index.ts";
import type { Fetch } from "../ports/index.ts";
import { readRetryAfter } from "./backoff.ts";
import type { Letter } from "./request.ts";

/** What came of one attempt. "refused": it must not be made, now or later. */
export interface Posted {
  readonly kind: "taken" | "gone" | "failed" | "refused" | "stopped";
  readonly status?: number;
  readonly error?: string;
  readonly retryAfterMs: number;
}

export interface PostParts {
  readonly fetch: Fetch;
  readonly wallTime: () => number;
  readonly pushTimeoutMs: number;
}

/** One attempt. `stop`: the server stops, and what came of it is not known. */
export async function post(
  parts: PostParts,
  { url, headers, body }: Letter,
  stop: AbortSignal,
): Promise<Posted> {
  const patience = new AbortController();
  const end = (): void => patience.abort();
  const timer = setTimeout(end, parts.pushTimeoutMs);
  stop.addEventListener("abort", end, { once: true });
  try {
    const { signal } = patience;
    const response = await parts.fetch(url, { method: "POST", headers, body, signal });
    // What it answers is of no interest once the status is there.
    await drain(response).catch(() => {});
    return toPosted(response, parts.wallTime());
  } catch (error) {
    if (stop.aborted) return { kind: "stopped", retryAfterMs: 0 };
    const { kind, words } = patience.signal.aborted ? late(parts.pushTimeoutMs) : explain(error);
    return { kind, error: words, retryAfterMs: 0 };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", end);
  }
}

function toPosted({ status, headers }: Response, now: number): Posted {
  if (status >= 200 && status < 300) return { kind: "taken", status, retryAfterMs: 0 };
  if (status === 410) return { kind: "gone", status, error: "it wants no more", retryAfterMs: 0 };
  const error =
    status >= 300 && status < 400 ? "it redirects, and redirects are not followed" : `it answered ${status}`;
  return { kind: "failed", status, error, retryAfterMs: readRetryAfter(headers.get("retry-after"), now) };
}

/** A connection can be used again only when all of an answer was read. */
async function drain({ body }: Response): Promise<void> {
  if (!body) return;
  const reader = body.getReader();
  for (let bytes = 0; bytes <= LIMITS.pushAnswerBytesMax; ) {
    const { value, done } = await reader.read();
    if (done) return;
    bytes += value.byteLength;
  }
  await reader.cancel();
}

const late = (ms: number) => ({ kind: "failed", words: `no answer within ${ms} ms` }) as const;

const WORDS: Readonly<Record<string, string>> = {
  ADDRESS_REFUSED: "its address is one that this server does not call",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection broke",
  UND_ERR_SOCKET: "the connection broke",
  UND_ERR_CONNECT_TIMEOUT: "no connection was made in time",
  ENOTFOUND: "its host is not known",
  ENODATA: "its host has no address",
  EAI_AGAIN: "its host could not be looked up",
  ETIMEOUT: "its host could not be looked up",
  ESERVFAIL: "its host could not be looked up",
};
const WORDS_CHARS_MAX = 200;

function explain(error: unknown): { readonly kind: "failed" | "refused"; readonly words: string } {
  const cause = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
  const words = WORDS[cause.code ?? ""] ?? cause.message ?? String(cause);
  return {
    kind: cause.code === "ADDRESS_REFUSED" ? "refused" : "failed",
    words: words.slice(0, WORDS_CHARS_MAX),
  };
}
