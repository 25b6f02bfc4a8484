/** One request to an endpoint, with retries. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Ctx } from "../../agent/context.ts";
import type { JsonObject } from "../../lib/json.ts";
import { connectionError, EndpointError, toEndpointError } from "./endpoint-error.ts";
import { type ResponseChunk, readResponse } from "./read-response.ts";

export interface ModelEndpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The API key, which is removed from error messages. */
  readonly key: string | undefined;
  readonly retries: number;
  /** The timeout of the first chunk. */
  readonly firstTokenMs: number;
  /** The timeout of every further chunk. */
  readonly idleMs: number;
}

/** "restart": a retry begins, and the chunks so far are invalid. */
export type CompletionEvent = ResponseChunk | { readonly kind: "restart" };

/** The first delay; each further one is twice as long. */
const DELAY_MS = 500;
/** A longer `Retry-After` fails the request: the caller may send it again later. */
const DELAY_MS_MAX = 60_000;

export async function* requestCompletion(
  endpoint: ModelEndpoint,
  body: JsonObject,
  ctx: Ctx,
): AsyncGenerator<CompletionEvent, void> {
  for (let tries = 1; ; tries++) {
    try {
      return yield* requestOnce(endpoint, body, ctx);
    } catch (error) {
      if (!(error instanceof EndpointError) || !error.isRetryable || tries > endpoint.retries) throw error;
      // With jitter, so that requests that failed together are not retried together.
      const jitter = 0.75 + (error.retryAfterMs === undefined ? (await ctx.random()) / 2 : 0);
      const delayMs = error.retryAfterMs ?? DELAY_MS * 2 ** (tries - 1) * jitter;
      if (delayMs > DELAY_MS_MAX) throw error;
      ctx.log.warn({ err: error, tries, waitMs: delayMs }, "a model request failed and is retried");
      await sleep(delayMs, undefined, { signal: ctx.signal });
      yield { kind: "restart" };
    }
  }
}

async function* requestOnce(
  endpoint: ModelEndpoint,
  body: JsonObject,
  ctx: Ctx,
): AsyncGenerator<ResponseChunk, void> {
  const timeout = createTimeout(endpoint);
  const signal = AbortSignal.any([ctx.signal, timeout.signal]);
  try {
    const response = await ctx.outbound.trusted(endpoint.url, {
      method: "POST",
      headers: { ...endpoint.headers, ...toTraceHeaders(ctx) },
      body: JSON.stringify(body),
      signal,
    });
    if (!response.ok) throw await toEndpointError(response);
    yield* readResponse(response, timeout.restart);
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (error instanceof EndpointError) throw error.without(endpoint.key);
    throw connectionError("The endpoint could not be reached, or the connection broke", error);
  } finally {
    timeout.end();
  }
}

/** Without the caller's baggage, which is not for the provider of a model. */
function toTraceHeaders({ trace }: Ctx): Readonly<Record<string, string>> {
  const { traceparent, tracestate } = trace ?? {};
  return {
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
  };
}

function createTimeout({ firstTokenMs, idleMs }: ModelEndpoint) {
  const controller = new AbortController();
  const start = (ms: number): NodeJS.Timeout =>
    setTimeout(() => controller.abort(connectionError(`The endpoint sent nothing for ${ms} ms`)), ms);
  let timer = start(firstTokenMs);
  return {
    signal: controller.signal,
    restart(): void {
      clearTimeout(timer);
      timer = start(idleMs);
    },
    /** Also aborts a request whose response is no longer read. */
    end(): void {
      clearTimeout(timer);
      controller.abort(new Error("the response is no longer read"));
    },
  };
}
