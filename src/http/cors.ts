import type { HttpRequest, HttpResponse } from "./request.ts";

export interface CorsParts {
  /** Origins, or "*". undefined: browsers keep the pages of others out. */
  readonly cors: readonly string[] | undefined;
  readonly apiKeyHeader: string;
}

/** Whether answers look different for different pages: whoever keeps them must know. */
export const isPerOrigin = (cors: CorsParts["cors"]): boolean => cors !== undefined && !cors.includes("*");

/** Tells browsers which pages may read the answer; before a call they ask what they may send. */
export interface Cors {
  greet(request: HttpRequest, response: HttpResponse, verbs: () => readonly string[]): void;
}

/** What callers may send beside what browsers send anyway. */
const ASKED = [
  ...["Accept", "Authorization", "Content-Type", "A2A-Version", "A2A-Extensions", "X-A2A-Extensions"],
  ...["Idempotency-Key", "Last-Event-ID", "traceparent", "tracestate", "baggage"],
];
/** What pages may read of an answer beside what they may read anyway. */
const SHOWN = [
  ...["A2A-Version", "A2A-Extensions", "X-A2A-Extensions", "Dragoman-Resumed", "ETag", "Retry-After"],
  ...["WWW-Authenticate", "traceparent", "X-Request-Id"],
].join(", ");
/** How long a browser need not ask again; the most that one of them keeps is two hours. */
const KEPT_SECONDS = 7_200;

/** Without credentials of the browser's own: who calls stands in a header that the page itself sets. */
export function createCors({ cors, apiKeyHeader }: CorsParts): Cors | undefined {
  if (!cors) return undefined;
  const isAny = !isPerOrigin(cors);
  const asked = [...ASKED, apiKeyHeader].join(", ");
  return {
    greet(request, response, verbs) {
      const { origin } = request.headers;
      if (origin === undefined || (!isAny && !cors.includes(origin))) return;
      response.setHeader("Access-Control-Allow-Origin", isAny ? "*" : origin);
      if (request.method !== "OPTIONS") return response.setHeader("Access-Control-Expose-Headers", SHOWN);
      response.setHeader("Access-Control-Allow-Methods", verbs().join(", "));
      response.setHeader("Access-Control-Allow-Headers", asked);
      response.setHeader("Access-Control-Max-Age", String(KEPT_SECONDS));
    },
  };
}
