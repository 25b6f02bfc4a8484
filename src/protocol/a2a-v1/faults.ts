import type { Json } from "../../lib/json.ts";
import type { FaultCode, FaultDetails } from "../../model/index.ts";
import type { FaultTable, WireFault } from "../../ports/index.ts";
import { toFaultTable, toHttpStatus } from "../shared/faults.ts";

/** v1 §5.4, edition 1.0.1: its HTTP statuses are plainer than those of other versions. */
const TABLE_1_0_1 = toFaultTable(
  {},
  {
    "task-not-cancelable": { http: 400, grpc: "FAILED_PRECONDITION" },
    "content-type-not-supported": { http: 400, grpc: "INVALID_ARGUMENT" },
    "invalid-agent-response": { http: 500, grpc: "INTERNAL" },
    "extended-card-not-configured": { http: 400, grpc: "FAILED_PRECONDITION" },
  },
);

/** Edition 1.0.0 has other HTTP and gRPC statuses; the official conformance kit still checks them. */
const TABLE_1_0_0 = toFaultTable(
  {},
  {
    "extended-card-not-configured": { http: 400, grpc: "FAILED_PRECONDITION" },
    "push-not-supported": { http: 400, grpc: "UNIMPLEMENTED" },
    "unsupported-operation": { http: 400, grpc: "UNIMPLEMENTED" },
    "version-not-supported": { http: 400, grpc: "UNIMPLEMENTED" },
  },
);

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
