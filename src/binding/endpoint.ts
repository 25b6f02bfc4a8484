import type { Bodies } from "../http/body.ts";
import { type HttpExchange, sendProblem } from "../http/request.ts";
import type { OwnRoute } from "../http/routes.ts";
import type { Answers } from "../http/write-large.ts";
import { Fault, LIMITS } from "../model/index.ts";
import type { EndpointRequest, EndpointResponse, Release, UnreadBytes } from "../ports/index.ts";

export interface OwnParts {
  readonly bodies: Bodies;
  readonly answers: Answers;
  readonly unread: Pick<UnreadBytes, "hold">;
  /** Sends what callers may keep for a while. */
  readonly sendLasting: (
    exchange: HttpExchange,
    text: string,
    headers: EndpointResponse["headers"],
    release: Release | undefined,
  ) => void | Promise<void>;
}

/** What the server itself answers, without a dialect. */
export function createOwn(parts: OwnParts) {
  function toCall(exchange: HttpExchange): EndpointRequest {
    const { headers, query, base, signal, certificate, match: place, request } = exchange;
    return {
      vars: place.vars,
      headers,
      query,
      base,
      signal,
      certificate,
      body: async () => parts.bodies.read(request),
    };
  }

  async function reply(exchange: HttpExchange, route: OwnRoute): Promise<void> {
    const { status, headers, text, cacheable } = await route.own.serve(toCall(exchange));
    // What was not read must not stay on the connection.
    exchange.request.resume();
    if (typeof text !== "string") return pour(exchange, status, headers, text);
    const release = holdLarge(text);
    if (cacheable) return parts.sendLasting(exchange, text, headers, release);
    const all = { "Cache-Control": "no-store", ...headers };
    return parts.answers.send(exchange.response, status, text, all, release);
  }

  const holdLarge = (text: string): Release | undefined =>
    text.length > LIMITS.pieceBytes ? parts.unread.hold(undefined, text.length) : undefined;

  async function pour(
    { response }: HttpExchange,
    status: number,
    headers: EndpointResponse["headers"],
    pieces: AsyncIterable<string>,
  ): Promise<void> {
    response.writeHead(status, { "Cache-Control": "no-store", ...headers });
    for await (const piece of pieces) {
      if (response.destroyed) return;
      const release = holdLarge(piece);
      await parts.answers.write(response, piece).finally(release);
    }
    response.end();
  }

  return {
    async serve(exchange: HttpExchange, route: OwnRoute): Promise<void> {
      try {
        await reply(exchange, route);
      } catch (error) {
        if (!(error instanceof Fault) || exchange.response.headersSent) throw error;
        const [status, code] = STATUSES[error.code] ?? [500, "INTERNAL"];
        sendProblem(exchange.response, status, code, error.message, headersOf(error));
      }
    },
  };
}

/** What an answer of the server's own can fail with. */
const STATUSES: Partial<Record<Fault["code"], readonly [number, string]>> = {
  parse: [400, "INVALID_ARGUMENT"],
  "invalid-request": [400, "INVALID_ARGUMENT"],
  "invalid-params": [400, "INVALID_ARGUMENT"],
  unauthenticated: [401, "UNAUTHENTICATED"],
  forbidden: [403, "PERMISSION_DENIED"],
  "unsupported-operation": [409, "FAILED_PRECONDITION"],
  "content-type-not-supported": [400, "INVALID_ARGUMENT"],
  busy: [409, "ABORTED"],
  "task-not-found": [404, "NOT_FOUND"],
  "agent-not-found": [404, "NOT_FOUND"],
  conflict: [409, "ABORTED"],
  "too-large": [413, "INVALID_ARGUMENT"],
  "too-slow": [408, "DEADLINE_EXCEEDED"],
  "rate-limited": [429, "RESOURCE_EXHAUSTED"],
  unavailable: [503, "UNAVAILABLE"],
};

function headersOf({ details }: Fault): Record<string, string> {
  return {
    ...(details.retryAfterMs !== undefined && {
      "Retry-After": String(Math.ceil(details.retryAfterMs / 1_000)),
    }),
    ...(details.challenge !== undefined && { "WWW-Authenticate": details.challenge }),
  };
}
