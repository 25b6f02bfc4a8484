/** Faults as the Agent Server reports them: a status and `{"detail": "…"}`. */
import { Fault, type FaultCode } from "../model/index.ts";
import type { EndpointResponse } from "../ports/index.ts";

const STATUSES: Readonly<Record<FaultCode, number>> = {
  parse: 400,
  "invalid-request": 422,
  "method-not-found": 404,
  "invalid-params": 422,
  internal: 500,
  "task-not-found": 404,
  "task-not-cancelable": 409,
  "push-not-supported": 422,
  "unsupported-operation": 409,
  "content-type-not-supported": 422,
  "invalid-agent-response": 500,
  "extended-card-not-configured": 404,
  "extension-required": 422,
  "version-not-supported": 400,
  "agent-not-found": 404,
  unauthenticated: 401,
  forbidden: 403,
  conflict: 409,
  "task-generation-mismatch": 409,
  "key-reused": 409,
  busy: 409,
  "rate-limited": 429,
  "too-large": 413,
  "too-slow": 408,
  unavailable: 503,
};

export function toFaultResponse({ code, message, details }: Fault): EndpointResponse {
  const { retryAfterMs, challenge } = details;
  return {
    status: STATUSES[code],
    headers: {
      ...(retryAfterMs !== undefined && { "Retry-After": String(Math.ceil(retryAfterMs / 1_000)) }),
      ...(challenge !== undefined && { "WWW-Authenticate": challenge }),
    },
    text: JSON.stringify({ detail: message }),
  };
}

/** Absent and foreign look the same. */
export const notFound = (what: "Assistant" | "Thread" | "Run" | "Checkpoint" | "Cron"): Fault =>
  new Fault("task-not-found", `${what} not found`);
