import type { Json } from "../../lib/json.ts";
import type { FaultCode, FaultDetails } from "../../model/index.ts";
import type { FaultTable, WireFault } from "../../ports/index.ts";
import { toHttpStatus } from "../shared/faults.ts";

/** v1 §5.4; -32050 and below are codes of Dragoman, in the range that JSON-RPC leaves to servers. */
const TABLE_1_0_1: FaultTable = {
  parse: { rpc: -32700, http: 400, grpc: "INVALID_ARGUMENT" },
  "invalid-request": { rpc: -32600, http: 400, grpc: "INVALID_ARGUMENT" },
  "method-not-found": { rpc: -32601, http: 404, grpc: "UNIMPLEMENTED" },
  "invalid-params": { rpc: -32602, http: 400, grpc: "INVALID_ARGUMENT" },
  internal: { rpc: -32603, http: 500, grpc: "INTERNAL" },
  "task-not-found": { rpc: -32001, http: 404, grpc: "NOT_FOUND" },
  "task-not-cancelable": { rpc: -32002, http: 400, grpc: "FAILED_PRECONDITION" },
  "push-not-supported": { rpc: -32003, http: 400, grpc: "FAILED_PRECONDITION" },
  "unsupported-operation": { rpc: -32004, http: 400, grpc: "FAILED_PRECONDITION" },
  "content-type-not-supported": { rpc: -32005, http: 400, grpc: "INVALID_ARGUMENT" },
  "invalid-agent-response": { rpc: -32006, http: 500, grpc: "INTERNAL" },
  "extended-card-not-configured": { rpc: -32007, http: 400, grpc: "FAILED_PRECONDITION" },
  "extension-required": { rpc: -32008, http: 400, grpc: "FAILED_PRECONDITION" },
  "version-not-supported": { rpc: -32009, http: 400, grpc: "FAILED_PRECONDITION" },
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

/** Edition 1.0.0 has other HTTP and gRPC statuses; the official conformance kit still checks them. */
const TABLE_1_0_0: FaultTable = {
  ...TABLE_1_0_1,
  "task-not-cancelable": { rpc: -32002, http: 409, grpc: "FAILED_PRECONDITION" },
  "content-type-not-supported": { rpc: -32005, http: 415, grpc: "INVALID_ARGUMENT" },
  "invalid-agent-response": { rpc: -32006, http: 502, grpc: "INTERNAL" },
  "push-not-supported": { rpc: -32003, http: 400, grpc: "UNIMPLEMENTED" },
  "unsupported-operation": { rpc: -32004, http: 400, grpc: "UNIMPLEMENTED" },
  "version-not-supported": { rpc: -32009, http: 400, grpc: "UNIMPLEMENTED" },
};

export const FAULT_TABLES = { "1.0.1": TABLE_1_0_1, "1.0.0": TABLE_1_0_0 } as const;

/** Errors that the protocol defines; the others have the domain `dragoman`. */
const PROTOCOL_ERRORS: ReadonlySet<FaultCode> = new Set<FaultCode>([
  "task-not-found",
  "task-not-cancelable",
  "push-not-supported",
  "unsupported-operation",
  "content-type-not-supported",
  "invalid-agent-response",
  "extended-card-not-configured",
  "extension-required",
  "version-not-supported",
]);

/** Reasons of the protocol that are not the fault code in capitals. */
const REASONS: Partial<Record<FaultCode, string>> = {
  "push-not-supported": "PUSH_NOTIFICATION_NOT_SUPPORTED",
  "extended-card-not-configured": "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
  "extension-required": "EXTENSION_SUPPORT_REQUIRED",
};

export function encodeFault(
  fault: { code: FaultCode; message: string; details: FaultDetails },
  table: FaultTable,
): WireFault {
  const { code, message, details } = fault;
  return {
    code,
    ...table[code],
    status: toHttpStatus(code, table),
    message,
    data: [toErrorInfo(code, details), ...toBadRequest(message, details)],
  };
}

/** v1 §9.5: every error has an ErrorInfo. */
function toErrorInfo(code: FaultCode, details: FaultDetails): Json {
  const metadata = { ...details.facts, ...(details.taskId !== undefined && { taskId: details.taskId }) };
  return {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: REASONS[code] ?? code.toUpperCase().replaceAll("-", "_"),
    domain: PROTOCOL_ERRORS.has(code) ? "a2a-protocol.org" : "dragoman",
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

function toBadRequest(message: string, details: FaultDetails): readonly Json[] {
  if (details.field === undefined) return [];
  return [
    {
      "@type": "type.googleapis.com/google.rpc.BadRequest",
      fieldViolations: [{ field: details.field, description: message }],
    },
  ];
}
