import type { Caller } from "./caller.ts";
import type { Lazy, PathVars } from "./protocol.ts";

/** An HTTP endpoint of the server itself, outside of every dialect: health, admin, OAuth, MCP. */
export interface Endpoint {
  readonly verb: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
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
  /** "": there is none. A Fault if the body is too large or too slow. */
  body(): Promise<string>;
}
export interface EndpointResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, unless the headers name another type. An iterable is sent piece by piece. */
  readonly text: string | Uint8Array | AsyncIterable<string>;
  /** The response gets an ETag and may be cached. */
  readonly cacheable?: true;
}
