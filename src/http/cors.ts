import type { HttpRequest, HttpResponse } from "./request.ts";

export interface CorsParts {
  /** Origins, or "*". undefined: only pages of the server's own origin may read responses. */
  readonly cors: readonly string[] | undefined;
  readonly apiKeyHeader: string;
}

/** Whether responses depend on the Origin header: caches must know. */
export const isPerOrigin = (cors: CorsParts["cors"]): boolean => cors !== undefined && !cors.includes("*");

export interface Cors {
  /** Sets the CORS headers of a response, also of the response to a preflight request. */
  setHeaders(request: HttpRequest, response: HttpResponse, verbs: () => readonly string[]): void;
}

/** Request headers that pages may set. */
const ALLOWED_HEADERS = [
  ...["Accept", "Authorization", "Content-Type", "A2A-Version", "A2A-Extensions", "X-A2A-Extensions"],
  ...["Idempotency-Key", "Last-Event-ID", "traceparent", "tracestate", "baggage"],
  // Clients of LangGraph.
  ...["X-Auth-Scheme", "X-Api-Key", "X-Tenant-Id", "X-User-Id", "Prefer"],
];
/** Response headers that pages may read. */
const EXPOSED_HEADERS = [
  ...["A2A-Version", "A2A-Extensions", "X-A2A-Extensions", "Dragoman-Resumed", "ETag", "Retry-After"],
  ...["WWW-Authenticate", "traceparent", "X-Request-Id"],
  // LangGraph: the id of a run, the path to join it, and pages of a search.
  ...["Content-Location", "Location", "X-Pagination-Total", "X-Pagination-Next"],
].join(", ");
/** How long a browser may cache a preflight response; Chrome caches it for two hours at most. */
const MAX_AGE_SECONDS = 7_200;

/** Without `Access-Control-Allow-Credentials`: credentials are in a header that the page itself sets. */
export function createCors({ cors, apiKeyHeader }: CorsParts): Cors | undefined {
  if (!cors) return undefined;
  const isAny = !isPerOrigin(cors);
  const allowed = [...ALLOWED_HEADERS, apiKeyHeader].join(", ");
  return {
    setHeaders(request, response, verbs) {
      const { origin } = request.headers;
      if (origin === undefined || (!isAny && !cors.includes(origin))) return;
      response.setHeader("Access-Control-Allow-Origin", isAny ? "*" : origin);
      if (request.method !== "OPTIONS")
        return response.setHeader("Access-Control-Expose-Headers", EXPOSED_HEADERS);
      response.setHeader("Access-Control-Allow-Methods", verbs().join(", "));
      response.setHeader("Access-Control-Allow-Headers", allowed);
      response.setHeader("Access-Control-Max-Age", String(MAX_AGE_SECONDS));
    },
  };
}
