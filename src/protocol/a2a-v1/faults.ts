import type { FaultTable, WireFault } from "../../ports/index.ts";
import { toErrorDetails } from "../shared/error-details.ts";
import { type FaultContent, toFaultTable, toHttpStatus } from "../shared/faults.ts";

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

export function encodeFault(fault: FaultContent, table: FaultTable): WireFault {
  const { code, message, details } = fault;
  const numbers = table[code];
  return {
    code,
    ...numbers,
    // RFC 9110 §15.5.16, whatever the table has for media types inside a message.
    http: details.field === "Content-Type" ? 415 : numbers.http,
    status: toHttpStatus(code, table),
    message,
    data: toErrorDetails(fault),
  };
}
