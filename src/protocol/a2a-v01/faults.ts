import type { FaultCode, FaultDetails } from "../../model/index.ts";
import type { FaultNumbers, WireFault } from "../../ports/index.ts";
import { statusOf } from "../shared/envelope.ts";
import { toFaultTable } from "../shared/fault-table.ts";
import { wordsFor } from "../shared/type-fault.ts";

/**
 * v0.1 §8. The schema of that time knows -32001 to -32004, its text the numbers up to -32011. It has no words for
 * versions and extensions; those are operations that are not supported.
 */
export const FAULTS = toFaultTable({
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
  "invalid-agent-response": -32603,
  "extended-card-not-configured": -32004,
  "extension-required": -32004,
  "version-not-supported": -32004,
  "agent-not-found": -32602,
  unauthenticated: -32007,
  forbidden: -32008,
  "key-reused": -32054,
  busy: -32055,
  conflict: -32052,
  unavailable: -32011,
  "rate-limited": -32010,
  "too-large": -32600,
  "too-slow": -32600,
});

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
