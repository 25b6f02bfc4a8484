import type { JsonObject } from "../lib/json.ts";
import type { Caller, Log, RequestHeaders, Route } from "../ports/index.ts";
import { createAbortSignals } from "./abort.ts";
import { type BaseUrlParts, createBaseUrl, type MountPoint } from "./base-url.ts";
import { type CorsParts, createCors } from "./cors.ts";
import type { ServeCustomApp } from "./custom-app.ts";
import { readPeerCertificate } from "./peer-certificate.ts";
import { type HttpExchange, type HttpRequest, type HttpResponse, sendError, sendText } from "./request.ts";
import type { EndpointRoute, RouteMatch } from "./routes.ts";

/** Answers the requests of one kind of route. */
interface Binding<R> {
  serve(exchange: HttpExchange, route: R): Promise<void>;
}

export type Bindings = Readonly<Record<Route["transport"], Binding<Route>>> & {
  readonly endpoint: Binding<EndpointRoute>;
  /** Ends open streams, each after a whole event, so that callers can resume. */
  close(): void;
};

export interface RouterParts extends BaseUrlParts, CorsParts {
  readonly bindings: Bindings;
  readonly match: (path: string) => RouteMatch | null;
  /** The body of the error for a path without a route; undefined: that of the router. */
  readonly unknownPathBody: (verb: string, path: string) => JsonObject | undefined;
  readonly log: Log;
  /** A path under which everything is served as well: `/api`. */
  readonly mountPrefix?: string | undefined;
  /** Serves paths without a route; undefined: they are not found. */
  readonly customApp?: ServeCustomApp | undefined;
}

export interface Router {
  /** `url`: the request target below the prefix of the mount point. */
  serve(request: HttpRequest, response: HttpResponse, url: string, mount: MountPoint): void;
  /** Aborts waiting calls and ends open streams. */
  close(): void;
}

/** Finds the route of a request and passes it to the binding; answers itself where there is no route. */
export function createRouter({ bindings, match, log, ...parts }: RouterParts): Router {
  const toBaseUrl = createBaseUrl(parts);
  const cors = createCors(parts);
  const signals = createAbortSignals();

  function serve(
    request: HttpRequest,
    response: HttpResponse,
    url: string,
    mount: MountPoint,
  ): Promise<void> | undefined {
    if (signals.isClosed) return void refuse(request, response, 503, "UNAVAILABLE", "The server has stopped");
    const mark = url.indexOf("?");
    const path = mark === -1 ? url : url.slice(0, mark);
    const found = match(path);
    const caller = toCaller(request, url);
    cors?.setHeaders(request, response, () => allowedVerbs(found));
    if (!found && parts.customApp) {
      const signal = signals.signalOf(response);
      const base = (): string => toBaseUrl(request.headers, mount);
      return parts.customApp({ ...caller, request, response, url, base, signal });
    }
    if (!found) return void refusePath(request, response, parts.unknownPathBody(request.method ?? "", path));
    const route = found.byVerb.get(request.method === "HEAD" ? "GET" : (request.method ?? ""));
    if (!route) return void refuseVerb(request, response, found);
    const exchange = {
      request,
      response,
      match: found,
      ...caller,
      query: mark === -1 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1)),
      base: () => toBaseUrl(request.headers, mount),
      signal: signals.signalOf(response),
    };
    return route.transport === "endpoint"
      ? bindings.endpoint.serve(exchange, route)
      : bindings[route.transport].serve(exchange, route);
  }

  return {
    serve(request, response, url, mount) {
      const [inner, point] = withoutPrefix(toTarget(url), mount, parts.mountPrefix);
      serve(request, response, inner, point)?.catch(error => {
        // The query may contain secrets.
        log.error({ err: error, path: url.split("?", 1)[0] }, "a request failed");
        if (!response.headersSent) sendError(response, 500, "INTERNAL", "Internal server error");
        else response.destroy();
      });
    },
    close() {
      signals.close();
      bindings.close();
    },
  };
}

const toCaller = (request: HttpRequest, url: string): Caller => ({
  headers: request.headers as RequestHeaders,
  certificate: () => readPeerCertificate(request.socket),
  target: () => ({ verb: request.method ?? "GET", url }),
});

/** The URL below the prefix, and the mount point with it. */
function withoutPrefix(
  url: string,
  mount: MountPoint,
  prefix: string | undefined,
): readonly [string, MountPoint] {
  if (prefix === undefined || !url.startsWith(prefix)) return [url, mount];
  const inner = url.slice(prefix.length);
  if (!/^(?:[/?]|$)/.test(inner)) return [url, mount];
  return [inner.startsWith("/") ? inner : `/${inner}`, { ...mount, prefix: `${mount.prefix}${prefix}` }];
}

const NOT_FOUND = "Not found; GET /agents lists the agents";
const NO_QUERY = new URLSearchParams();

/** RFC 9112 §3.2.2: a server accepts the absolute form as well. */
function toTarget(url: string): string {
  return url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "") || "/";
}

function allowedVerbs(match: RouteMatch | null): readonly string[] {
  const verbs = [...(match?.byVerb.keys() ?? [])];
  return [...verbs, ...(verbs.includes("GET") ? ["HEAD"] : []), "OPTIONS"];
}

function refuseVerb(request: HttpRequest, response: HttpResponse, match: RouteMatch): void {
  const allow = allowedVerbs(match).join(", ");
  if (request.method === "OPTIONS") {
    response.writeHead(204, { Allow: allow });
    response.end();
  } else {
    const message = `Method ${request.method} is not allowed here; allowed are ${allow}`;
    refuse(request, response, 405, "UNIMPLEMENTED", message, { Allow: allow });
  }
}

function refusePath(request: HttpRequest, response: HttpResponse, body: JsonObject | undefined): void {
  if (!body) return refuse(request, response, 404, "NOT_FOUND", NOT_FOUND);
  request.resume();
  sendText(response, 404, JSON.stringify(body), { "Cache-Control": "no-store" });
}

/** An error without reading the body. */
export function refuse(
  request: HttpRequest,
  response: HttpResponse,
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  request.resume();
  sendError(response, status, code, message, headers);
}
