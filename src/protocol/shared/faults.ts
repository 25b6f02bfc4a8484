import { type Fault, type FaultCode, isTerminal, type TaskState } from "../../model/index.ts";
import type { FaultNumbers, FaultTable, ReplyContext, WireFault } from "../../ports/index.ts";

/** Tables of error numbers, and errors on the wire, as far as protocols have them in common. */

export type FaultContent = Pick<Fault, "code" | "message" | "details">;

/** Numbers of v1.0 and v0.3. From -32050 on they are the server's own, in the range that JSON-RPC leaves to servers. */
export const FAULT_NUMBERS: Readonly<Record<FaultCode, number>> = {
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
  "extended-card-not-configured": -32007,
  "extension-required": -32008,
  "version-not-supported": -32009,
  "agent-not-found": -32602,
  unauthenticated: -32050,
  forbidden: -32051,
  "key-reused": -32054,
  busy: -32055,
  conflict: -32052,
  "task-generation-mismatch": -32052,
  unavailable: -32053,
  "rate-limited": -32056,
  "too-large": -32600,
  "too-slow": -32600,
};

/** The HTTP and gRPC statuses of protocols that define numbers only. */
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
  "task-generation-mismatch": { http: 409, grpc: "ABORTED" },
  unavailable: { http: 503, grpc: "UNAVAILABLE" },
  "rate-limited": { http: 429, grpc: "RESOURCE_EXHAUSTED" },
  "too-large": { http: 413, grpc: "INVALID_ARGUMENT" },
  "too-slow": { http: 408, grpc: "DEADLINE_EXCEEDED" },
};

/** `numbers` and `statuses`: the differences from the defaults. */
/* @__NO_SIDE_EFFECTS__ */
export function toFaultTable(
  numbers: Partial<Record<FaultCode, number>>,
  statuses: Partial<Record<FaultCode, Omit<FaultNumbers, "rpc">>> = {},
): FaultTable {
  const codes = Object.keys(FAULT_NUMBERS) as FaultCode[];
  return Object.fromEntries(
    codes.map(code => [
      code,
      { rpc: numbers[code] ?? FAULT_NUMBERS[code], ...(statuses[code] ?? STATUSES[code]) },
    ]),
  ) as unknown as FaultTable;
}

/** Errors of the HTTP request itself keep their HTTP status; all other JSON-RPC errors are sent with 200. */
const HTTP_ERRORS: ReadonlySet<FaultCode> = new Set<FaultCode>([
  "unauthenticated",
  "forbidden",
  "agent-not-found",
  "too-large",
  "too-slow",
  "unavailable",
  "rate-limited",
]);

/** The HTTP status of a JSON-RPC response with this fault. */
export const toHttpStatus = (code: FaultCode, faults: FaultTable): number =>
  HTTP_ERRORS.has(code) ? faults[code].http : 200;

/** v0.2 and v0.3: number and message, no details. */
export function encodeV03Fault(
  { code, message }: Pick<Fault, "code" | "message">,
  call: ReplyContext,
  faults: FaultTable,
): WireFault {
  return {
    code,
    ...faults[code],
    status: toHttpStatus(code, faults),
    message,
    // Official v0.3 clients accept only a stream in response to tasks/resubscribe.
    asStream: call.method === "tasks/resubscribe" && !NEVER_STREAMED.has(code),
  };
}

/** The HTTP status carries these, whatever the method. */
const NEVER_STREAMED: ReadonlySet<FaultCode> = new Set<FaultCode>([
  "unauthenticated",
  "forbidden",
  "agent-not-found",
  "unavailable",
  "rate-limited",
]);

/** The message for a task that takes no message, in protocols where callers choose task ids. */
export function toTaskStateMessage({ code, message, details }: FaultContent): string {
  const state = details.facts?.state as TaskState | undefined;
  if (code !== "unsupported-operation" || state === undefined) return message;
  return isTerminal(state)
    ? `The task has ended (${state}) and accepts no message; choose another id`
    : "The task is still running and accepts no message; wait until it asks for input, or choose another id";
}
