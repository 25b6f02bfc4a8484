import type { FaultCode } from "../../model/index.ts";
import type { Envelope, FaultTable } from "../../ports/index.ts";

/** JSON-RPC 2.0 as it is written: no id, no answer. */
export const JSON_RPC: Envelope = { withoutId: 204, nullId: "answer", idInFrames: true };

/** JSON-RPC errors travel with 200; what concerns the HTTP request itself has its own status. */
const OWN_STATUS: ReadonlySet<FaultCode> = new Set<FaultCode>([
  "unauthenticated",
  "forbidden",
  "agent-not-found",
  "too-large",
  "too-slow",
  "unavailable",
  "rate-limited",
]);

/** The HTTP status of a JSON-RPC reply with this fault. */
export const statusOf = (code: FaultCode, faults: FaultTable): number =>
  OWN_STATUS.has(code) ? faults[code].http : 200;
