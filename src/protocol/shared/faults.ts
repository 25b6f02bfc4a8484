import { type Fault, type FaultCode, isTerminal, type TaskState } from "../../model/index.ts";
import type { FaultNumbers, FaultTable, ReplyContext, WireFault } from "../../ports/index.ts";

/** Tables of error numbers, and errors on the wire, as far as protocols have them in common. */

export type FaultContent = Pick<Fault, "code" | "message" | "details">;

/**
 * Numbers of v1.0 and v0.3 with the HTTP and gRPC statuses of protocols that define numbers only. From -32050 on they are
 * the server's own, in the range that JSON-RPC leaves to servers.
 */
const DEFAULTS: FaultTable = {
  parse: { rpc: -32700, http: 400, grpc: "INVALID_ARGUMENT" },
  "invalid-request": { rpc: -32600, http: 400, grpc: "INVALID_ARGUMENT" },
  "method-not-found": { rpc: -32601, http: 404, grpc: "UNIMPLEMENTED" },
  "invalid-params": { rpc: -32602, http: 400, grpc: "INVALID_ARGUMENT" },
  internal: { rpc: -32603, http: 500, grpc: "INTERNAL" },
  "task-not-found": { rpc: -32001, http: 404, grpc: "NOT_FOUND" },
  "task-not-cancelable": { rpc: -32002, http: 409, grpc: "FAILED_PRECONDITION" },
  "push-not-supported": { rpc: -32003, http: 400, grpc: "FAILED_PRECONDITION" },
  "unsupported-operation": { rpc: -32004, http: 400, grpc: "FAILED_PRECONDITION" },
  "content-type-not-supported": { rpc: -32005, http: 415, grpc: "INVALID_ARGUMENT" },
  "invalid-agent-response": { rpc: -32006, http: 502, grpc: "INTERNAL" },
  "extended-card-not-configured": { rpc: -32007, http: 404, grpc: "FAILED_PRECONDITION" },
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

/** `numbers` and `statuses`: the differences from the defaults. */
export function toFaultTable(
  numbers: Partial<Record<FaultCode, number>>,
  statuses: Partial<Record<FaultCode, Omit<FaultNumbers, "rpc">>> = {},
): FaultTable {
  const codes = Object.keys(DEFAULTS) as FaultCode[];
  return Object.fromEntries(
    codes.map(code => [
      code,
      { ...DEFAULTS[code], rpc: numbers[code] ?? DEFAULTS[code].rpc, ...statuses[code] },
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
