import type { ReplyContext, WireFault } from "../../ports/index.ts";
import { type FaultContent, toFaultTable } from "../shared/faults.ts";

/** The transport of the AI SDK shows the text of an error. Nothing to resume is no error: 204. */
export const FAULTS = toFaultTable({}, { "task-not-found": { http: 204, grpc: "NOT_FOUND" } });

export function encodeFault({ code, message, details }: FaultContent, _call: ReplyContext): WireFault {
  const { field } = details;
  const body = { error: field === undefined ? { code, message } : { code, message, field } };
  return { code, ...FAULTS[code], status: FAULTS[code].http, message, body };
}
