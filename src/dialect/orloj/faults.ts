import type { FaultCode, FaultDetails, Json } from "../../model/index.ts";
import type { FaultNumbers, FaultTable, WireCall, WireFault } from "../../ports.ts";
import { isObject } from "../read.ts";
import { wordsFor } from "../type-fault.ts";

/**
 * The eight numbers of the document. What it has no number for is a wrong parameter (R13) or a failure of the server;
 * what a caller may not see is not there.
 */
export const FAULTS: FaultTable = {
  parse: { rpc: -32700, http: 400, grpc: "INVALID_ARGUMENT" },
  "invalid-request": { rpc: -32600, http: 400, grpc: "INVALID_ARGUMENT" },
  "method-not-found": { rpc: -32601, http: 404, grpc: "UNIMPLEMENTED" },
  "invalid-params": { rpc: -32602, http: 400, grpc: "INVALID_ARGUMENT" },
  internal: { rpc: -32603, http: 500, grpc: "INTERNAL" },
  "task-not-found": { rpc: -32001, http: 404, grpc: "NOT_FOUND" },
  "task-not-cancelable": { rpc: -32002, http: 409, grpc: "FAILED_PRECONDITION" },
  "push-not-supported": { rpc: -32602, http: 400, grpc: "FAILED_PRECONDITION" },
  "unsupported-operation": { rpc: -32602, http: 400, grpc: "FAILED_PRECONDITION" },
  "content-type-not-supported": { rpc: -32602, http: 415, grpc: "INVALID_ARGUMENT" },
  "invalid-agent-response": { rpc: -32603, http: 502, grpc: "INTERNAL" },
  "extended-card-not-configured": { rpc: -32602, http: 404, grpc: "FAILED_PRECONDITION" },
  "extension-required": { rpc: -32602, http: 400, grpc: "FAILED_PRECONDITION" },
  "version-not-supported": { rpc: -32602, http: 400, grpc: "FAILED_PRECONDITION" },
  "agent-not-found": { rpc: -32003, http: 404, grpc: "NOT_FOUND" },
  unauthenticated: { rpc: -32003, http: 401, grpc: "UNAUTHENTICATED" },
  forbidden: { rpc: -32003, http: 403, grpc: "PERMISSION_DENIED" },
  "key-reused": { rpc: -32602, http: 409, grpc: "ALREADY_EXISTS" },
  busy: { rpc: -32602, http: 409, grpc: "ABORTED" },
  conflict: { rpc: -32603, http: 409, grpc: "ABORTED" },
  unavailable: { rpc: -32603, http: 503, grpc: "UNAVAILABLE" },
  "too-large": { rpc: -32600, http: 413, grpc: "INVALID_ARGUMENT" },
  "too-slow": { rpc: -32600, http: 408, grpc: "DEADLINE_EXCEEDED" },
};

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
