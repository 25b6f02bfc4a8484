import { v1 } from "../protocol/a2a-v1/client.ts";
import { v01 } from "../protocol/a2a-v01/client.ts";
import { v02 } from "../protocol/a2a-v02/client.ts";
import { v03, v03Proto } from "../protocol/a2a-v03/client.ts";
import { arbiter } from "../protocol/arbiter/client.ts";
import { langgraph } from "../protocol/langgraph/client.ts";
import { orloj } from "../protocol/orloj/client.ts";
import { simple } from "../protocol/simple-a2a/client.ts";
import type { ClientDialect } from "./client-protocol.ts";

/** As agent cards spell it. */
export type ProtocolBinding = "JSONRPC" | "HTTP+JSON" | "GRPC";

/** A dialect over one transport. */
export interface ClientBinding {
  readonly dialect: ClientDialect;
  readonly transport: ProtocolBinding;
}

const over = (transport: ProtocolBinding, dialect: ClientDialect): ClientBinding => ({ transport, dialect });

/** By the name of the dialect in the configuration; the first transport is preferred. */
export const CLIENT_BINDINGS = {
  v1: [over("JSONRPC", v1), over("HTTP+JSON", v1), over("GRPC", v1)],
  "v0.3": [over("JSONRPC", v03), over("HTTP+JSON", v03Proto), over("GRPC", v03Proto)],
  "v0.2": [over("JSONRPC", v02)],
  "v0.1": [over("JSONRPC", v01)],
  langgraph: [over("JSONRPC", langgraph)],
  orloj: [over("JSONRPC", orloj)],
  arbiter: [over("JSONRPC", arbiter)],
  simple: [over("JSONRPC", simple)],
} as const satisfies Record<string, readonly ClientBinding[]>;

export type DialectName = keyof typeof CLIENT_BINDINGS;
export const DIALECT_NAMES = /* @__PURE__ */ Object.keys(CLIENT_BINDINGS) as readonly DialectName[];
