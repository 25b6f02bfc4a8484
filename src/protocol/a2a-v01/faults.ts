import type { FaultNumbers, WireFault } from "../../ports/index.ts";
import { type FaultContent, toFaultTable, toHttpStatus, toTaskStateMessage } from "../shared/faults.ts";

/**
 * v0.1 §8. The schema has -32001 to -32004, the text numbers up to -32011. Versions and extensions have no number: they
 * are unsupported operations.
 */
export const NUMBERS = {
  "invalid-agent-response": -32603,
  "extended-card-not-configured": -32004,
  "extension-required": -32004,
  "version-not-supported": -32004,
  unauthenticated: -32007,
  forbidden: -32008,
  unavailable: -32011,
  "rate-limited": -32010,
} as const;
export const FAULTS = toFaultTable(NUMBERS);

/** v0.1 has three numbers for what later versions call an unsupported operation. */
export const STREAMING_NOT_SUPPORTED = -32006;
export const INVALID_TASK_STATE = -32009;
const STREAM_METHODS: readonly string[] = ["tasks/sendSubscribe", "tasks/resubscribe"];

export function encodeFault(fault: FaultContent, method: string): WireFault {
  const { code } = fault;
  return {
    code,
    ...findNumbers(fault, method),
    status: toHttpStatus(code, FAULTS),
    message: toMessage(fault),
  };
}

function findNumbers({ code, details }: FaultContent, method: string): FaultNumbers {
  if (code !== "unsupported-operation") return FAULTS[code];
  const numbers = FAULTS[code];
  if (details.facts?.state !== undefined) return { ...numbers, rpc: INVALID_TASK_STATE, http: 409 };
  return STREAM_METHODS.includes(method) ? { ...numbers, rpc: STREAMING_NOT_SUPPORTED } : numbers;
}

/** A context is a session in v0.1. */
const toMessage = (fault: FaultContent): string =>
  fault.details.field === "message.contextId"
    ? "sessionId does not match the task; omit it"
    : toTaskStateMessage(fault);
