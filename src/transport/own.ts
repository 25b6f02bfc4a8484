import { Fault } from "../model/index.ts";
import type { OwnCall, OwnReply } from "../ports.ts";
import type { Bodies } from "./body.ts";
import { drained, type Exchange, sendProblem, sendText } from "./exchange.ts";
import type { OwnRoute } from "./routes.ts";

export interface OwnParts {
  readonly bodies: Bodies;
  /** Sends what callers may keep for a while. */
  readonly sendLasting: (exchange: Exchange, text: string, headers: OwnReply["headers"]) => void;
}

/** What the server itself answers, without a dialect. */
export function createOwn(parts: OwnParts) {
  function toCall(exchange: Exchange): OwnCall {
    const { headers, query, base, signal, certificate, place, request } = exchange;
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

  async function reply(exchange: Exchange, route: OwnRoute): Promise<void> {
    const { status, headers, text, lasting } = await route.own.serve(toCall(exchange));
    // What was not read must not stay on the connection.
    exchange.request.resume();
    if (typeof text !== "string") await pour(exchange, status, headers, text);
    else if (lasting) parts.sendLasting(exchange, text, headers);
    else sendText(exchange.response, status, text, { "Cache-Control": "no-store", ...headers });
  }

  async function pour(
    { response }: Exchange,
    status: number,
    headers: OwnReply["headers"],
    pieces: AsyncIterable<string>,
  ): Promise<void> {
    response.writeHead(status, { "Cache-Control": "no-store", ...headers });
    for await (const piece of pieces) {
      if (response.destroyed) return;
      if (!response.write(piece)) await drained(response);
    }
    response.end();
  }

  return {
    async serve(exchange: Exchange, route: OwnRoute): Promise<void> {
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
