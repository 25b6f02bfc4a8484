import type { CorsRules } from "../model/index.ts";
import type { HttpRequest, HttpResponse } from "./request.ts";

export interface CorsParts {
  /** Origins, or "*". undefined: only pages of the server's own origin may read responses. */
  readonly cors: readonly string[] | undefined;
  readonly apiKeyHeader: string;
  readonly corsRules?: CorsRules | undefined;
}

/** Whether responses depend on the Origin header: caches must know. */
export const isPerOrigin = ({ cors, corsRules }: Pick<CorsParts, "cors" | "corsRules">): boolean =>
  cors === undefined ? corsRules?.originPattern !== undefined : !cors.includes("*");

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
  ...["Dragoman-Truncated", "WWW-Authenticate", "traceparent", "X-Request-Id"],
  // LangGraph: the id of a run, the path to join it, and pages of a search.
  ...["Content-Location", "Location", "X-Pagination-Total", "X-Pagination-Next"],
];
/** How long a browser may cache a preflight response; Chrome caches it for two hours at most. */
const MAX_AGE_SECONDS = 7_200;

/** Whether pages of an origin may call this server. */
export function createOriginTest({
  cors,
  corsRules: rules,
}: Pick<CorsParts, "cors" | "corsRules">): (origin: string) => boolean {
  const pattern = rules?.originPattern === undefined ? undefined : new RegExp(`^(?:${rules.originPattern})$`);
  return origin =>
    cors?.includes("*") === true || cors?.includes(origin) === true || pattern?.test(origin) === true;
}

/** Without `Access-Control-Allow-Credentials` by default: credentials are in a header that the page itself sets. */
export function createCors({ cors, apiKeyHeader, corsRules: rules }: CorsParts): Cors | undefined {
  if (!cors && rules?.originPattern === undefined) return undefined;
  const isAny = cors?.includes("*") === true;
  const isAllowed = createOriginTest({ cors, corsRules: rules });
  const allowed = [...ALLOWED_HEADERS, apiKeyHeader, ...(rules?.headers ?? [])].join(", ");
  const exposed = [...EXPOSED_HEADERS, ...(rules?.exposedHeaders ?? [])].join(", ");
  return {
    setHeaders(request, response, verbs) {
      const { origin } = request.headers;
      if (origin === undefined || !isAllowed(origin)) return;
      response.setHeader("Access-Control-Allow-Origin", isAny ? "*" : origin);
      if (rules?.allowsCredentials) response.setHeader("Access-Control-Allow-Credentials", "true");
      if (request.method !== "OPTIONS") return response.setHeader("Access-Control-Expose-Headers", exposed);
      response.setHeader("Access-Control-Allow-Methods", (rules?.methods ?? verbs()).join(", "));
      response.setHeader("Access-Control-Allow-Headers", allowed);
      response.setHeader("Access-Control-Max-Age", String(rules?.maxAgeSeconds ?? MAX_AGE_SECONDS));
    },
  };
}
