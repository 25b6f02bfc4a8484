import { toFaultTable } from "../shared/fault-table.ts";

/** Its table of error codes; an agent that is not there has the number of a task that is not there. The rest is this server's. */
export const FAULTS = toFaultTable(
  {
    parse: -32700,
    "invalid-request": -32600,
    "method-not-found": -32601,
    "invalid-params": -32602,
    internal: -32603,
    "task-not-found": -32001,
    "agent-not-found": -32001,
    "task-not-cancelable": -32002,
    "unsupported-operation": -32004,
    "push-not-supported": -32004,
    "content-type-not-supported": -32005,
    "invalid-agent-response": -32006,
    "version-not-supported": -32007,
    "extended-card-not-configured": -32004,
    "extension-required": -32004,
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
  { "task-not-cancelable": { http: 404, grpc: "NOT_FOUND" } },
);
