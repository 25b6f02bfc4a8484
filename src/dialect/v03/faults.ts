import type { FaultTable } from "../../ports.ts";

/** v0.3 §8 and wire.md 1.7. It has no words for versions and extensions; the numbers of v1 are kept for them. */
export const FAULTS: FaultTable = {
  parse: { rpc: -32700, http: 400 },
  "invalid-request": { rpc: -32600, http: 400 },
  "method-not-found": { rpc: -32601, http: 404 },
  "invalid-params": { rpc: -32602, http: 400 },
  internal: { rpc: -32603, http: 500 },
  "task-not-found": { rpc: -32001, http: 404 },
  "task-not-cancelable": { rpc: -32002, http: 409 },
  "push-not-supported": { rpc: -32003, http: 400 },
  "unsupported-operation": { rpc: -32004, http: 400 },
  "content-type-not-supported": { rpc: -32005, http: 415 },
  "invalid-agent-response": { rpc: -32006, http: 502 },
  "extended-card-not-configured": { rpc: -32007, http: 404 },
  "extension-required": { rpc: -32008, http: 400 },
  "version-not-supported": { rpc: -32009, http: 400 },
  "agent-not-found": { rpc: -32602, http: 404 },
  unauthenticated: { rpc: -32050, http: 401 },
  forbidden: { rpc: -32051, http: 403 },
  conflict: { rpc: -32052, http: 409 },
  unavailable: { rpc: -32053, http: 503 },
  "too-large": { rpc: -32600, http: 413 },
  "too-slow": { rpc: -32600, http: 408 },
};
