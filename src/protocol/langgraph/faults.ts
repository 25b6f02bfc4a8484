import type { FaultCode, FaultDetails } from "../../model/index.ts";
import type { WireCall, WireFault } from "../../ports/index.ts";
import { statusOf } from "../shared/envelope.ts";
import { toFaultTable } from "../shared/fault-table.ts";

/** The numbers of v0.3, as far as the document has any; what it does not name keeps the number that v0.3 has here. */
export const FAULTS = toFaultTable(
  {
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
    unavailable: -32053,
    "rate-limited": -32056,
    "too-large": -32600,
    "too-slow": -32600,
  },
  { "content-type-not-supported": { http: 400, grpc: "INVALID_ARGUMENT" } },
);

export function writeFault(
  { code, message, details }: { code: FaultCode; message: string; details: FaultDetails },
  call: WireCall,
): WireFault {
  const fault = { code, ...FAULTS[code], message, status: statusOf(code, FAULTS) };
  if (call.transport === "document") return { ...fault, body: { error: { code: fault.rpc, message } } };
  // What is no call, a call that takes no answer, and a call to nobody get no envelope.
  const isBare = call.method === "" || details.field === "Accept" || code === "agent-not-found";
  return isBare ? { ...fault, status: fault.http, body: { error: message } } : fault;
}
