/** One question to an endpoint, tried again as long as there is hope. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Ctx } from "../../agent/definition.ts";
import type { JsonObject } from "../../lib/json.ts";
import { broken, EndpointError, toEndpointError } from "./endpoint-error.ts";
import { type Piece, readPieces } from "./read-response.ts";

export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What no log may hold. */
  readonly key: string | undefined;
  /** How often a question is asked again. */
  readonly retries: number;
  /** How long the first piece may take. */
  readonly firstTokenMs: number;
  /** How long any other piece may take. */
  readonly idleMs: number;
}

/** "again": what was said so far is void. */
export type Answer = Piece | { readonly kind: "again" };

/** The first wait; each further one is twice as long. */
const WAIT_MS = 500;
/** An endpoint that wants to be left alone for longer is not waited for: the caller may come back. */
const WAIT_MS_MAX = 60_000;

export async function* ask(endpoint: Endpoint, body: JsonObject, ctx: Ctx): AsyncGenerator<Answer, void> {
  for (let tries = 1; ; tries++) {
    try {
      return yield* askOnce(endpoint, body, ctx);
    } catch (error) {
      const mayRetry = error instanceof EndpointError && error.again && tries <= endpoint.retries;
      const waitMs = mayRetry ? await waitBefore(error, tries, ctx) : undefined;
      if (waitMs === undefined || waitMs > WAIT_MS_MAX) throw error;
      ctx.log.warn({ err: error, tries, waitMs }, "a model did not answer; it is asked again");
      await sleep(waitMs, undefined, { signal: ctx.signal });
      yield { kind: "again" };
    }
  }
}

/** Not the same for all who were turned away at once. */
const waitBefore = async ({ waitMs }: EndpointError, tries: number, ctx: Ctx): Promise<number> =>
  waitMs ?? WAIT_MS * 2 ** (tries - 1) * (0.75 + (await ctx.random()) / 2);

async function* askOnce(endpoint: Endpoint, body: JsonObject, ctx: Ctx): AsyncGenerator<Piece, void> {
  const patience = createPatience(endpoint);
  const signal = AbortSignal.any([ctx.signal, patience.signal]);
  try {
    const response = await ctx.outbound.trusted(endpoint.url, {
      method: "POST",
      headers: { ...endpoint.headers, ...traceOf(ctx) },
      body: JSON.stringify(body),
      signal,
    });
    if (!response.ok) throw await toEndpointError(response);
    yield* readPieces(response, patience.alive);
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (error instanceof EndpointError) throw error.without(endpoint.key);
    throw broken("The endpoint could not be reached, or the connection broke", error);
  } finally {
    patience.end();
  }
}

/** What a caller brings along beyond the trace itself is not for a model's provider. */
function traceOf({ trace }: Ctx): Readonly<Record<string, string>> {
  const { traceparent, tracestate } = trace ?? {};
  return {
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
  };
}

function createPatience({ firstTokenMs, idleMs }: Endpoint) {
  const controller = new AbortController();
  const give = (ms: number): NodeJS.Timeout =>
    setTimeout(() => controller.abort(broken(`The endpoint was silent for ${ms} ms`)), ms);
  let timer = give(firstTokenMs);
  return {
    signal: controller.signal,
    alive(): void {
      clearTimeout(timer);
      timer = give(idleMs);
    },
    /** Also ends a call that nobody listens to any more. */
    end(): void {
      clearTimeout(timer);
      controller.abort(new Error("nobody listens any more"));
    },
  };
}
