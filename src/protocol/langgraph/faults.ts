import type { ReplyContext, WireFault } from "../../ports/index.ts";
import { type FaultContent, toFaultTable, toHttpStatus } from "../shared/faults.ts";

/** The numbers of v0.3: the document names some of them and no others. */
export const FAULTS = toFaultTable(
  {},
  { "content-type-not-supported": { http: 400, grpc: "INVALID_ARGUMENT" } },
);

export function encodeFault({ code, message, details }: FaultContent, call: ReplyContext): WireFault {
  const fault = { code, ...FAULTS[code], message, status: toHttpStatus(code, FAULTS) };
  if (call.transport === "document") return { ...fault, body: { error: { code: fault.rpc, message } } };
  // Without a readable call, its id, an acceptable response type or a known agent there is no JSON-RPC envelope.
  const { field } = details;
  const isWithoutId = code === "invalid-request" && field === "id";
  const isBare = call.method === "" || field === "Accept" || isWithoutId || code === "agent-not-found";
  return isBare ? { ...fault, status: fault.http, body: { error: message } } : fault;
}
