import type { FaultCode, FaultDetails } from "../../model/index.ts";
import type { FaultNumbers, FaultTable, WireFault } from "../../ports.ts";
import { statusOf } from "../envelope.ts";
import { wordsFor } from "../type-fault.ts";

/**
 * v0.1 §8. The schema of that time knows -32001 to -32004, its text the numbers up to -32011. It has no words for
 * versions and extensions; those are operations that are not supported.
 */
export const FAULTS: FaultTable = {
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
  "invalid-agent-response": { rpc: -32603, http: 502, grpc: "INTERNAL" },
  "extended-card-not-configured": { rpc: -32004, http: 404, grpc: "FAILED_PRECONDITION" },
  "extension-required": { rpc: -32004, http: 400, grpc: "FAILED_PRECONDITION" },
  "version-not-supported": { rpc: -32004, http: 400, grpc: "FAILED_PRECONDITION" },
  "agent-not-found": { rpc: -32602, http: 404, grpc: "NOT_FOUND" },
  unauthenticated: { rpc: -32007, http: 401, grpc: "UNAUTHENTICATED" },
  forbidden: { rpc: -32008, http: 403, grpc: "PERMISSION_DENIED" },
  "key-reused": { rpc: -32054, http: 409, grpc: "ALREADY_EXISTS" },
  busy: { rpc: -32055, http: 409, grpc: "ABORTED" },
  conflict: { rpc: -32052, http: 409, grpc: "ABORTED" },
  unavailable: { rpc: -32011, http: 503, grpc: "UNAVAILABLE" },
  "too-large": { rpc: -32600, http: 413, grpc: "INVALID_ARGUMENT" },
  "too-slow": { rpc: -32600, http: 408, grpc: "DEADLINE_EXCEEDED" },
};

/** What other versions call an unsupported operation has three names here. */
const STREAMING_NOT_SUPPORTED: FaultNumbers = { rpc: -32006, http: 400, grpc: "FAILED_PRECONDITION" };
const INVALID_TASK_STATE: FaultNumbers = { rpc: -32009, http: 409, grpc: "FAILED_PRECONDITION" };
const STREAMS: readonly string[] = ["tasks/sendSubscribe", "tasks/resubscribe"];

type Told = { readonly code: FaultCode; readonly message: string; readonly details: FaultDetails };

export function writeFault(fault: Told, method: string): WireFault {
  const { code } = fault;
  return { code, ...numbersFor(fault, method), status: statusOf(code, FAULTS), message: messageOf(fault) };
}

function numbersFor({ code, details }: Told, method: string): FaultNumbers {
  if (code !== "unsupported-operation") return FAULTS[code];
  if (details.facts?.state !== undefined) return INVALID_TASK_STATE;
  return STREAMS.includes(method) ? STREAMING_NOT_SUPPORTED : FAULTS[code];
}

/** A context is a session here. */
const messageOf = (fault: Told): string =>
  fault.details.field === "message.contextId"
    ? "sessionId is not the session of the task; leave it out"
    : wordsFor(fault);
