import type { JsonObject } from "../../lib/json.ts";
import type { FaultCode, TaskState } from "../../model/index.ts";
import type { ReplyContext, WireFault } from "../../ports/index.ts";
import { type FaultContent, toFaultTable } from "../shared/faults.ts";

/** Statuses of the OpenAI API; its clients repeat calls after 408, 409, 429 and 5xx. */
export const FAULTS = toFaultTable(
  {},
  {
    "task-not-cancelable": { http: 400, grpc: "FAILED_PRECONDITION" },
    "content-type-not-supported": { http: 400, grpc: "INVALID_ARGUMENT" },
    // Clients would repeat a call that can never succeed.
    "key-reused": { http: 400, grpc: "ALREADY_EXISTS" },
  },
);

/** `type` and `code` of an error. */
const KINDS: Partial<Record<FaultCode, readonly [type: string, code: string | null]>> = {
  unauthenticated: ["authentication_error", "invalid_api_key"],
  forbidden: ["permission_error", "insufficient_permissions"],
  "agent-not-found": ["invalid_request_error", "model_not_found"],
  "task-not-cancelable": ["invalid_request_error", "response_not_cancellable"],
  "content-type-not-supported": ["invalid_request_error", "unsupported_content_type"],
  "unsupported-operation": ["invalid_request_error", "unsupported_value"],
  "rate-limited": ["rate_limit_error", "rate_limit_exceeded"],
  "too-large": ["invalid_request_error", "request_too_large"],
  "key-reused": ["invalid_request_error", "idempotency_key_reused"],
  busy: ["invalid_request_error", "conversation_locked"],
  "too-slow": ["server_error", "timeout"],
  "invalid-agent-response": ["server_error", "invalid_agent_response"],
  unavailable: ["server_error", "server_overloaded"],
  internal: ["server_error", null],
};

/** A turn that ended without an answer; `facts.state` of the fault. */
const ENDS: Partial<Record<TaskState, string>> = { failed: "agent_failed", canceled: "task_canceled" };

const stateOf = ({ details }: FaultContent): TaskState | undefined =>
  details.facts?.state as TaskState | undefined;

/** The parameter, in the words of the API. */
function toParam({ code, details: { field } }: FaultContent, method: string): string | null {
  if (code === "agent-not-found") return "model";
  if (!field?.startsWith("message.")) return field ?? null;
  return method === "responses.create" ? "input" : "messages";
}

export function toErrorBody(fault: FaultContent, method = ""): JsonObject {
  const { code, message } = fault;
  const [type, own] = KINDS[code] ?? ["invalid_request_error", null];
  const isEnd = code === "invalid-agent-response" || code === "too-slow";
  const ended = isEnd ? ENDS[stateOf(fault) as TaskState] : undefined;
  return { error: { message, type, param: toParam(fault, method), code: ended ?? own } };
}

export function encodeFault(fault: FaultContent, call: ReplyContext): WireFault {
  const { code, message } = fault;
  const numbers = FAULTS[code];
  if (code === "task-not-found") return toNotFound(fault, call);
  const wire = { code, ...numbers, status: numbers.http, message, body: toErrorBody(fault, call.method) };
  // The agent has run: a repeated call would run it again.
  if (stateOf(fault) === undefined || numbers.http < 408) return wire;
  return { ...wire, http: code === "invalid-agent-response" ? 500 : numbers.http, headers: NO_RETRY };
}
/** A response that a path names, or that a parameter names. */
function toNotFound({ code, details }: FaultContent, { method }: ReplyContext): WireFault {
  const isParameter = method === "responses.create";
  const message = isParameter ? "Previous response not found" : "Response not found";
  const own = isParameter ? "previous_response_not_found" : "response_not_found";
  const param = isParameter ? "previous_response_id" : (details.field ?? null);
  const body = { error: { message, type: "invalid_request_error", param, code: own } };
  const http = isParameter ? 400 : FAULTS[code].http;
  return { code, ...FAULTS[code], http, status: http, message, body };
}

const NO_RETRY = { "X-Should-Retry": "false" };
