import type { FaultCode } from "../../model/index.ts";
import type { FaultNumbers, FaultTable } from "../../ports/index.ts";

/** The statuses of HTTP and gRPC in dialects that have no opinion on them: they are spoken over JSON-RPC. */
const STATUSES: Readonly<Record<FaultCode, Omit<FaultNumbers, "rpc">>> = {
  parse: { http: 400, grpc: "INVALID_ARGUMENT" },
  "invalid-request": { http: 400, grpc: "INVALID_ARGUMENT" },
  "method-not-found": { http: 404, grpc: "UNIMPLEMENTED" },
  "invalid-params": { http: 400, grpc: "INVALID_ARGUMENT" },
  internal: { http: 500, grpc: "INTERNAL" },
  "task-not-found": { http: 404, grpc: "NOT_FOUND" },
  "task-not-cancelable": { http: 409, grpc: "FAILED_PRECONDITION" },
  "push-not-supported": { http: 400, grpc: "FAILED_PRECONDITION" },
  "unsupported-operation": { http: 400, grpc: "FAILED_PRECONDITION" },
  "content-type-not-supported": { http: 415, grpc: "INVALID_ARGUMENT" },
  "invalid-agent-response": { http: 502, grpc: "INTERNAL" },
  "extended-card-not-configured": { http: 404, grpc: "FAILED_PRECONDITION" },
  "extension-required": { http: 400, grpc: "FAILED_PRECONDITION" },
  "version-not-supported": { http: 400, grpc: "FAILED_PRECONDITION" },
  "agent-not-found": { http: 404, grpc: "NOT_FOUND" },
  unauthenticated: { http: 401, grpc: "UNAUTHENTICATED" },
  forbidden: { http: 403, grpc: "PERMISSION_DENIED" },
  "key-reused": { http: 409, grpc: "ALREADY_EXISTS" },
  busy: { http: 409, grpc: "ABORTED" },
  conflict: { http: 409, grpc: "ABORTED" },
  unavailable: { http: 503, grpc: "UNAVAILABLE" },
  "rate-limited": { http: 429, grpc: "RESOURCE_EXHAUSTED" },
  "too-large": { http: 413, grpc: "INVALID_ARGUMENT" },
  "too-slow": { http: 408, grpc: "DEADLINE_EXCEEDED" },
};

/** A table from the numbers of JSON-RPC alone; `others`: statuses that a dialect does have an opinion on. */
export const toFaultTable = (
  numbers: Readonly<Record<FaultCode, number>>,
  others: Partial<Record<FaultCode, Omit<FaultNumbers, "rpc">>> = {},
): FaultTable =>
  Object.fromEntries(
    Object.entries({ ...STATUSES, ...others }).map(([code, statuses]) => [
      code,
      { rpc: numbers[code as FaultCode], ...statuses },
    ]),
  ) as unknown as FaultTable;
