import type { BodyReader } from "../http/body.ts";
import { type HttpExchange, sendError } from "../http/request.ts";
import type { EndpointRoute } from "../http/routes.ts";
import type { ResponseWriter } from "../http/write-large.ts";
import { Fault, LIMITS } from "../model/index.ts";
import type { EndpointRequest, EndpointResponse, Release, UnreadBytes } from "../ports/index.ts";
import { faultHeaders } from "./pipeline.ts";

export interface EndpointParts {
  readonly bodies: BodyReader;
  readonly writer: ResponseWriter;
  readonly unread: Pick<UnreadBytes, "hold">;
  /** Sends a response with an ETag, or 304. */
  readonly sendCacheable: (
    exchange: HttpExchange,
    text: string,
    headers: EndpointResponse["headers"],
    release: Release | undefined,
  ) => void | Promise<void>;
}

/** The endpoints of the server itself, outside of every dialect. */
export function createEndpoints({ bodies, writer, unread, sendCacheable }: EndpointParts) {
  async function respond(exchange: HttpExchange, { target }: EndpointRoute): Promise<void> {
    const { response } = exchange;
    const { status, headers, text, cacheable } = await target.serve(toRequest(exchange));
    // An unread body must not stay on the connection.
    exchange.request.resume();
    const all = { "Cache-Control": "no-store", ...headers };
    if (typeof text === "string") {
      const release = holdLarge(text);
      if (cacheable) return sendCacheable(exchange, text, headers, release);
      return writer.send(response, status, text, all, release);
    }
    if (text instanceof Uint8Array) {
      response.writeHead(status, { ...all, "Content-Length": text.length });
      response.write(text);
      return void response.end();
    }
    response.writeHead(status, all);
    for await (const piece of text) {
      if (response.destroyed) return;
      const release = holdLarge(piece);
      await writer.write(response, piece).finally(release);
    }
    response.end();
  }

  function toRequest(exchange: HttpExchange): EndpointRequest {
    const { headers, query, base, signal, certificate, target, match, request } = exchange;
    const body = async (): Promise<string> => bodies.read(request);
    return { vars: match.vars, headers, query, base, signal, certificate, target, body };
  }

  const holdLarge = (text: string): Release | undefined =>
    text.length > LIMITS.chunkBytes ? unread.hold(undefined, text.length) : undefined;

  return {
    async serve(exchange: HttpExchange, route: EndpointRoute): Promise<void> {
      try {
        await respond(exchange, route);
      } catch (error) {
        if (!(error instanceof Fault) || exchange.response.headersSent) throw error;
        const [status, code] = STATUSES[error.code] ?? [500, "INTERNAL"];
        sendError(exchange.response, status, code, error.message, faultHeaders(error));
      }
    },
  };
}

/** The faults that an endpoint can fail with. */
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
