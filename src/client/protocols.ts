import { v1 } from "../protocol/a2a-v1/client.ts";
import { orloj, v01 } from "../protocol/a2a-v01/client.ts";
import { arbiter, langgraph, v02, v03 } from "../protocol/a2a-v03/client.ts";
import { v03Grpc, v03Rest } from "../protocol/a2a-v03/client-proto.ts";
import { simple } from "../protocol/simple-a2a/client.ts";
import type { ClientDialect } from "./client-protocol.ts";

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
