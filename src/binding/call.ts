import type { HttpExchange } from "../http/request.ts";
import type { Json } from "../lib/json.ts";
import type { TransportName, WireCall } from "../ports/index.ts";

/** What a transport found in its envelope. */
interface Asked {
  readonly method: string;
  readonly params: Json | undefined;
  readonly metadata: Json | undefined;
  readonly bytes: number;
}

export function toCall(transport: TransportName, exchange: HttpExchange, asked: Asked): WireCall {
  const { match: place, headers, certificate, query, base, signal } = exchange;
  return {
    transport,
    endpoint: place.endpoint,
    vars: place.vars,
    headers,
    certificate,
    query,
    base,
    method: asked.method,
    params: asked.params,
    metadata: asked.metadata,
    bytes: asked.bytes,
    signal,
  };
}
