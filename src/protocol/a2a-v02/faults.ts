import { toFaultTable } from "../shared/fault-table.ts";

/** v0.2 §8 ends at -32006. What a later version has a number for gets that number, but a card that is not there is HTTP's affair. */
export const FAULTS = toFaultTable(
  {
    parse: -32700,
    "invalid-request": -32600,
    "method-not-found": -32601,
    "invalid-params": -32602,
    internal: -32603,
    "task-not-found": -32001,
    "task-not-cancelable": -32002,
    "push-not-supported": -32003,
    "unsupported-operation": -32004,
    "content-type-not-supported": -32005,
    "invalid-agent-response": -32006,
    "extended-card-not-configured": -32004,
    "extension-required": -32008,
    "version-not-supported": -32009,
    "agent-not-found": -32602,
    unauthenticated: -32050,
    forbidden: -32051,
    "key-reused": -32054,
    busy: -32055,
    conflict: -32052,
    unavailable: -32053,
    "rate-limited": -32056,
    "too-large": -32600,
    "too-slow": -32600,
  },
  { "extended-card-not-configured": { http: 404, grpc: "NOT_FOUND" } },
);
