import type { Json } from "../../lib/json.ts";
import type { FaultCode, FaultDetails } from "../../model/index.ts";
import type { FaultNumbers, WireCall, WireFault } from "../../ports/index.ts";
import { toFaultTable } from "../shared/fault-table.ts";
import { isObject } from "../shared/read.ts";
import { wordsFor } from "../shared/type-fault.ts";

/**
 * The eight numbers of the document. What it has no number for is a wrong parameter (R13) or a failure of the server;
 * what a caller may not see is not there.
 */
export const FAULTS = toFaultTable({
  parse: -32700,
  "invalid-request": -32600,
  "method-not-found": -32601,
  "invalid-params": -32602,
  internal: -32603,
  "task-not-found": -32001,
  "task-not-cancelable": -32002,
  "push-not-supported": -32602,
  "unsupported-operation": -32602,
  "content-type-not-supported": -32602,
  "invalid-agent-response": -32603,
  "extended-card-not-configured": -32602,
  "extension-required": -32602,
  "version-not-supported": -32602,
  "agent-not-found": -32003,
  unauthenticated: -32003,
  forbidden: -32003,
  "key-reused": -32602,
  busy: -32602,
  conflict: -32603,
  unavailable: -32603,
  "rate-limited": -32603,
  "too-large": -32600,
  "too-slow": -32600,
});

/** Found out before there was an envelope: the HTTP status says it. Everything else is said with 200. */
const BEFORE_THE_ENVELOPE: readonly FaultCode[] = ["unauthenticated", "too-large", "too-slow"];

type Told = { readonly code: FaultCode; readonly message: string; readonly details: FaultDetails };

export function writeFault(fault: Told, call: WireCall): WireFault {
  const { code, details } = fault;
  const status = BEFORE_THE_ENVELOPE.includes(code) ? FAULTS[code].http : 200;
  const told = { code, ...numbersFor(fault), status, message: messageOf(fault) };
  return ABOUT_THE_TASK.includes(code) && details.taskId !== undefined
    ? { ...told, data: { task_id: nameIn(call) ?? details.taskId } }
    : told;
}

/** These are about the task that the call names. */
const ABOUT_THE_TASK: readonly FaultCode[] = [
  "task-not-found",
  "task-not-cancelable",
  "unsupported-operation",
];

/** To a canceled task everything but reading it is refused with one number. */
const isCanceled = ({ code, details }: Told): boolean =>
  code === "unsupported-operation" && details.facts?.state === "canceled";

const numbersFor = (fault: Told): FaultNumbers =>
  FAULTS[isCanceled(fault) ? "task-not-cancelable" : fault.code];

function messageOf(fault: Told): string {
  if (fault.code === "task-not-found") return "task not found";
  return isCanceled(fault) ? "task has been cancelled; choose another id" : wordsFor(fault);
}

/** The caller's own name of the task, not ours. */
function nameIn({ params }: WireCall): Json | undefined {
  return isObject(params) ? params.id : undefined;
}
