import { createDocuments } from "../binding/document.ts";
import { createOwn } from "../binding/endpoint.ts";
import { createJsonRpc } from "../binding/jsonrpc.ts";
import { createRest } from "../binding/rest.ts";
import type { Headers, Log, Pipeline, Route, UnreadBytes } from "../ports/index.ts";
import { type AddressParts, createBase, type Site } from "./base-url.ts";
import { type BodyLimits, createBodies } from "./body.ts";
import { type CorsParts, createCors, isPerOrigin } from "./cors.ts";
import { createReaders } from "./open-connections.ts";
import { peerOf } from "./peer-certificate.ts";
import { type HttpExchange, type HttpRequest, type HttpResponse, sendProblem } from "./request.ts";
import type { RouteMatch } from "./routes.ts";
import { STALLED_MAX, type Streams } from "./sse.ts";
import { createAnswers } from "./write-large.ts";

export interface KernelParts extends AddressParts, CorsParts {
  readonly pipeline: Pipeline;
  readonly locate: (path: string) => RouteMatch | null;
  readonly log: Log;
  readonly limits: BodyLimits;
  readonly streams: Streams;
  readonly unread: UnreadBytes;
  readonly heartbeatMs: number;
  /** When what is served last changed. */
  readonly modifiedAt: () => number;
}

export interface Kernel {
  /** `url`: what is asked for, below the site's prefix. */
  serve(request: HttpRequest, response: HttpResponse, url: string, site: Site): void;
  /** Ends what callers are reading: each stream after a whole event, so that it can be resumed. */
  close(): void;
}

interface Transport {
  serve(exchange: HttpExchange, route: Route): Promise<void>;
}

/** The way from a request to its transport, and what is said where no dialect is spoken; whose socket it is, is not asked. */
export function createKernel(parts: KernelParts): Kernel {
  const { streams, unread } = parts;
  const bodies = createBodies(parts.limits);
  const answers = createAnswers(STALLED_MAX * parts.heartbeatMs);
  const transports = {
    jsonrpc: createJsonRpc({ pipeline: parts.pipeline, streams, bodies, answers }),
    rest: createRest({ pipeline: parts.pipeline, streams, bodies, answers }),
    document: createDocuments({
      ...parts,
      answers,
      vary: isPerOrigin(parts.cors) ? ["A2A-Version", "Origin"] : ["A2A-Version"],
    }),
  } satisfies Record<Route["transport"], Transport>;
  const own = createOwn({ bodies, answers, unread, sendLasting: transports.document.send });
  const baseOf = createBase(parts);
  const cors = createCors(parts);
  const readers = createReaders();

  function serve(
    request: HttpRequest,
    response: HttpResponse,
    url: string,
    site: Site,
  ): Promise<void> | undefined {
    if (readers.closed) return void refuse(request, response, 503, "UNAVAILABLE", "The server has stopped");
    const mark = url.indexOf("?");
    const path = mark === -1 ? url : url.slice(0, mark);
    const match = parts.locate(path);
    cors?.greet(request, response, () => verbsOf(match));
    if (!match) return void refuse(request, response, 404, "NOT_FOUND", NOTHING_HERE);
    const route = match.byVerb.get(request.method === "HEAD" ? "GET" : (request.method ?? ""));
    if (!route) return void wrongVerb(request, response, match);
    const query = mark === -1 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1));
    const exchange = {
      request,
      response,
      match,
      headers: request.headers as Headers,
      certificate: () => peerOf(request.socket),
      query,
      base: () => baseOf(request.headers, site),
      signal: readers.signalOf(response),
    };
    if (route.transport === "own") return own.serve(exchange, route);
    return transports[route.transport].serve(exchange, route);
  }

  return {
    serve(request, response, url, site) {
      serve(request, response, toTarget(url), site)?.catch(error => {
        // What stands behind the path may be a secret.
        parts.log.error({ err: error, path: url.split("?", 1)[0] }, "a request failed");
        if (!response.headersSent) sendProblem(response, 500, "INTERNAL", "The server failed");
        else response.destroy();
      });
    },
    close() {
      readers.close();
      streams.close();
      bodies.close();
    },
  };
}

const NOTHING_HERE = "There is nothing here; GET /agents lists the agents";

/** RFC 9112 §3.2.2: a server takes the absolute form as well. */
function toTarget(url: string): string {
  return url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "") || "/";
}

const NO_QUERY = new URLSearchParams();

function verbsOf(match: RouteMatch | null): readonly string[] {
  const verbs = [...(match?.byVerb.keys() ?? [])];
  return [...verbs, ...(verbs.includes("GET") ? ["HEAD"] : []), "OPTIONS"];
}

function wrongVerb(request: HttpRequest, response: HttpResponse, match: RouteMatch): void {
  const allow = verbsOf(match).join(", ");
  if (request.method === "OPTIONS") {
    response.writeHead(204, { Allow: allow });
    response.end();
  } else {
    const message = `${request.method} is not for this path; it takes ${allow}`;
    refuse(request, response, 405, "UNIMPLEMENTED", message, { Allow: allow });
  }
}

export function refuse(
  request: HttpRequest,
  response: HttpResponse,
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  // What came with it is not read; the connection is only kept if nothing is left on it.
  request.resume();
  sendProblem(response, status, code, message, headers);
}
