import type { Caller } from "./caller.ts";
import type { Lazy, PathVars } from "./index.ts";

/** What the server itself answers: no dialect has a part in it. */
export interface Endpoint {
  readonly verb: "GET" | "POST" | "DELETE";
  /** As in `Route`. */
  readonly path: string;
  serve(call: EndpointRequest): EndpointResponse | Promise<EndpointResponse>;
}
export interface EndpointRequest extends Caller {
  readonly vars: PathVars;
  readonly query: URLSearchParams;
  /** See `WireCall`. */
  readonly base: Lazy<string>;
  readonly signal: Lazy<AbortSignal>;
  /** Of a POST; a Fault if it is too large or too slow. */
  body(): Promise<string>;
}
export interface EndpointResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, unless the headers tell another type. Pieces are sent as they come. */
  readonly text: string | AsyncIterable<string>;
  /** Callers may keep it for a while, and ask whether it still holds. */
  readonly cacheable?: true;
}
