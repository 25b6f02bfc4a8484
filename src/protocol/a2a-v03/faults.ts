import type { FaultTable } from "../../ports/index.ts";

/**
 * v0.3 §8. Versions and extensions have no codes in v0.3: they get those of v1.0. The official gRPC clients know an error
 * by its status alone.
 */
export const FAULTS: FaultTable = {
  parse: { rpc: -32700, http: 400, grpc: "INVALID_ARGUMENT" },
  "invalid-request": { rpc: -32600, http: 400, grpc: "INVALID_ARGUMENT" },
  "method-not-found": { rpc: -32601, http: 404, grpc: "UNIMPLEMENTED" },
  "invalid-params": { rpc: -32602, http: 400, grpc: "INVALID_ARGUMENT" },
  internal: { rpc: -32603, http: 500, grpc: "INTERNAL" },
  "task-not-found": { rpc: -32001, http: 404, grpc: "NOT_FOUND" },
  "task-not-cancelable": { rpc: -32002, http: 409, grpc: "FAILED_PRECONDITION" },
  "push-not-supported": { rpc: -32003, http: 400, grpc: "UNIMPLEMENTED" },
  "unsupported-operation": { rpc: -32004, http: 400, grpc: "UNIMPLEMENTED" },
  "content-type-not-supported": { rpc: -32005, http: 415, grpc: "INVALID_ARGUMENT" },
  "invalid-agent-response": { rpc: -32006, http: 502, grpc: "INTERNAL" },
  "extended-card-not-configured": { rpc: -32007, http: 404, grpc: "FAILED_PRECONDITION" },
  "extension-required": { rpc: -32008, http: 400, grpc: "FAILED_PRECONDITION" },
  "version-not-supported": { rpc: -32009, http: 400, grpc: "UNIMPLEMENTED" },
  "agent-not-found": { rpc: -32602, http: 404, grpc: "NOT_FOUND" },
  unauthenticated: { rpc: -32050, http: 401, grpc: "UNAUTHENTICATED" },
  forbidden: { rpc: -32051, http: 403, grpc: "PERMISSION_DENIED" },
  "key-reused": { rpc: -32054, http: 409, grpc: "ALREADY_EXISTS" },
  busy: { rpc: -32055, http: 409, grpc: "ABORTED" },
  conflict: { rpc: -32052, http: 409, grpc: "ABORTED" },
  unavailable: { rpc: -32053, http: 503, grpc: "UNAVAILABLE" },
  "rate-limited": { rpc: -32056, http: 429, grpc: "RESOURCE_EXHAUSTED" },
  "too-large": { rpc: -32600, http: 413, grpc: "INVALID_ARGUMENT" },
  "too-slow": { rpc: -32600, http: 408, grpc: "DEADLINE_EXCEEDED" },
};
