import type { FaultCode, FaultDetails } from "../../model/index.ts";
import type { FaultTable, WireCall, WireFault } from "../../ports.ts";
import { statusOf } from "../envelope.ts";

/** The numbers of v0.3, as far as the document has any; what it does not name keeps the number that v0.3 has here. */
export const FAULTS: FaultTable = {
  parse: { rpc: -32700, http: 400, grpc: "INVALID_ARGUMENT" },
  "invalid-request": { rpc: -32600, http: 400, grpc: "INVALID_ARGUMENT" },
  "method-not-found": { rpc: -32601, http: 404, grpc: "UNIMPLEMENTED" },
  "invalid-params": { rpc: -32602, http: 400, grpc: "INVALID_ARGUMENT" },
  internal: { rpc: -32603, http: 500, grpc: "INTERNAL" },
  "task-not-found": { rpc: -32001, http: 404, grpc: "NOT_FOUND" },
  "task-not-cancelable": { rpc: -32002, http: 400, grpc: "FAILED_PRECONDITION" },
  "push-not-supported": { rpc: -32003, http: 400, grpc: "FAILED_PRECONDITION" },
  "unsupported-operation": { rpc: -32004, http: 400, grpc: "FAILED_PRECONDITION" },
  "content-type-not-supported": { rpc: -32005, http: 400, grpc: "INVALID_ARGUMENT" },
  "invalid-agent-response": { rpc: -32006, http: 500, grpc: "INTERNAL" },
  "extended-card-not-configured": { rpc: -32007, http: 400, grpc: "FAILED_PRECONDITION" },
  "extension-required": { rpc: -32008, http: 400, grpc: "FAILED_PRECONDITION" },
  "version-not-supported": { rpc: -32009, http: 400, grpc: "FAILED_PRECONDITION" },
  "agent-not-found": { rpc: -32602, http: 404, grpc: "NOT_FOUND" },
  unauthenticated: { rpc: -32050, http: 401, grpc: "UNAUTHENTICATED" },
  forbidden: { rpc: -32051, http: 403, grpc: "PERMISSION_DENIED" },
  "key-reused": { rpc: -32054, http: 409, grpc: "ALREADY_EXISTS" },
  busy: { rpc: -32055, http: 409, grpc: "ABORTED" },
  conflict: { rpc: -32052, http: 409, grpc: "ABORTED" },
  unavailable: { rpc: -32053, http: 503, grpc: "UNAVAILABLE" },
  "too-large": { rpc: -32600, http: 413, grpc: "INVALID_ARGUMENT" },
  "too-slow": { rpc: -32600, http: 408, grpc: "DEADLINE_EXCEEDED" },
};

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
