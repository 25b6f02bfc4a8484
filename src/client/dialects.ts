import type { ClientDialect } from "./dialect.ts";
import { simple } from "./simple.ts";
import { v1 } from "./v1.ts";
import { orloj, v01 } from "./v01.ts";
import { arbiter, langgraph, v02, v03 } from "./v03.ts";
import { v03Grpc, v03Rest } from "./v03-proto.ts";

export type TransportName = "JSONRPC" | "HTTP+JSON" | "GRPC";

/** One dialect over one transport. */
export interface Tongue {
  readonly dialect: ClientDialect;
  readonly transport: TransportName;
}

const over = (transport: TransportName, dialect: ClientDialect): Tongue => ({ transport, dialect });

/** What is spoken, by the name that a config has for it; of several transports the first is preferred. */
export const TONGUES = {
  v1: [over("JSONRPC", v1), over("HTTP+JSON", v1), over("GRPC", v1)],
  "v0.3": [over("JSONRPC", v03), over("HTTP+JSON", v03Rest), over("GRPC", v03Grpc)],
  "v0.2": [over("JSONRPC", v02)],
  "v0.1": [over("JSONRPC", v01)],
  langgraph: [over("JSONRPC", langgraph)],
  orloj: [over("JSONRPC", orloj)],
  arbiter: [over("JSONRPC", arbiter)],
  simple: [over("JSONRPC", simple)],
} as const satisfies Record<string, readonly Tongue[]>;

export type DialectName = keyof typeof TONGUES;
export const DIALECT_NAMES = Object.keys(TONGUES) as readonly DialectName[];
