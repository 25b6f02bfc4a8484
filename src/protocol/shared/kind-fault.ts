import type { FaultCode } from "../../model/index.ts";
import type { FaultTable, ReplyContext, WireFault } from "../../ports/index.ts";
import { statusOf } from "./envelope.ts";

/** How v0.2 and v0.3 refuse: with a number and a sentence. */
export function writeFault(
  fault: { readonly code: FaultCode; readonly message: string },
  call: ReplyContext,
  faults: FaultTable,
): WireFault {
  const { code, message } = fault;
  return {
    code,
    ...faults[code],
    status: statusOf(code, faults),
    message,
    // Their official clients read the answer to a resubscription only as a stream.
    asStream: call.method === "tasks/resubscribe" && !BEFORE_THE_CALL.has(code),
  };
}

/** Said by the HTTP status, whatever was called. */
const BEFORE_THE_CALL: ReadonlySet<FaultCode> = new Set<FaultCode>([
  "unauthenticated",
  "forbidden",
  "agent-not-found",
  "unavailable",
  "rate-limited",
]);
