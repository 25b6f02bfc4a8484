import type { FaultCode } from "../../model/index.ts";
import type { FaultNumbers, WireCall, WireFault } from "../../ports/index.ts";
import { type FaultContent, toFaultTable, toTaskStateMessage } from "../shared/faults.ts";
import { isObject } from "../shared/fields.ts";

/** An agent that the caller may not call, or that does not exist. */
export const NOT_VISIBLE = -32003;

/**
 * The eight numbers of the document. Errors without a number are invalid params (R13) or internal errors; agents that the
 * caller may not see are not found.
 */
export const FAULTS = toFaultTable({
  "push-not-supported": -32602,
  "unsupported-operation": -32602,
  "content-type-not-supported": -32602,
  "invalid-agent-response": -32603,
  "extended-card-not-configured": -32602,
  "extension-required": -32602,
  "version-not-supported": -32602,
  "agent-not-found": NOT_VISIBLE,
  unauthenticated: NOT_VISIBLE,
  forbidden: NOT_VISIBLE,
  "key-reused": -32602,
  busy: -32602,
  conflict: -32603,
  "task-generation-mismatch": -32603,
  unavailable: -32603,
  "rate-limited": -32603,
});

/** Errors before the JSON-RPC envelope is read keep their HTTP status; all others are sent with 200. */
const HTTP_ERRORS: readonly FaultCode[] = ["unauthenticated", "too-large", "too-slow"];

/** Errors about the task that the call names: `data.task_id` repeats its id. */
const TASK_ERRORS: readonly FaultCode[] = ["task-not-found", "task-not-cancelable", "unsupported-operation"];

export function encodeFault(fault: FaultContent, call: WireCall): WireFault {
  const { code, details } = fault;
  const status = HTTP_ERRORS.includes(code) ? FAULTS[code].http : 200;
  const encoded = { code, ...findNumbers(fault), status, message: toMessage(fault) };
  if (!TASK_ERRORS.includes(code) || details.taskId === undefined) return encoded;
  // The id that the caller used, not the id of the server.
  const id = isObject(call.params) ? call.params.id : undefined;
  return { ...encoded, data: { task_id: id ?? details.taskId } };
}

/** For a canceled task, sending and canceling fail with the same number. */
const isCanceled = ({ code, details }: FaultContent): boolean =>
  code === "unsupported-operation" && details.facts?.state === "canceled";

const findNumbers = (fault: FaultContent): FaultNumbers =>
  FAULTS[isCanceled(fault) ? "task-not-cancelable" : fault.code];

function toMessage(fault: FaultContent): string {
  if (fault.code === "task-not-found") return "task not found";
  return isCanceled(fault) ? "task has been cancelled; choose another id" : toTaskStateMessage(fault);
}
