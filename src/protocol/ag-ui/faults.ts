import type { ReplyContext, WireFault } from "../../ports/index.ts";
import { type FaultContent, toFaultTable } from "../shared/faults.ts";

/** AG-UI defines no errors before a run. Nothing to connect to is no error: 204. */
export const FAULTS = toFaultTable({}, { "task-not-found": { http: 204, grpc: "NOT_FOUND" } });

/** In the form of RUN_ERROR. */
export function encodeFault({ code, message, details }: FaultContent, _call: ReplyContext): WireFault {
  const { field } = details;
  const error = { type: "RUN_ERROR", message, code };
  const body = field === undefined ? error : { ...error, metadata: { field } };
  return { code, ...FAULTS[code], status: FAULTS[code].http, message, body };
}
