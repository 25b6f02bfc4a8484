/** The catalogue of errors meant for callers. Each dialect has a total table from these to its own numbers. */
export const FAULTS = {
  parse: "The body is not JSON",
  "invalid-request": "The body is not a valid request",
  "method-not-found": "Method not found",
  "invalid-params": "A parameter is missing or invalid",
  internal: "Internal server error",
  "task-not-found": "Task not found",
  "task-not-cancelable": "The task has already ended",
  "push-not-supported": "The agent does not support push notifications",
  "unsupported-operation": "The agent or the task does not support this operation",
  "content-type-not-supported": "The agent does not accept this media type",
  "invalid-agent-response": "The agent's response is not valid",
  "extended-card-not-configured": "The agent has no extended card",
  "extension-required": "The agent requires an extension that the caller did not name",
  "version-not-supported": "Protocol version not supported",
  "agent-not-found": "Agent not found",
  unauthenticated: "Authentication required",
  forbidden: "Permission denied",
  conflict: "The task changed concurrently",
  "task-generation-mismatch": "The task has another generation than the caller expects",
  "key-reused": "The Idempotency-Key was used for another call",
  busy: "An earlier turn of this context is still running",
  "rate-limited": "Rate limit or quota exceeded",
  "too-large": "The request is too large",
  "too-slow": "Request timeout",
  unavailable: "Service unavailable",
} as const;

export type FaultCode = keyof typeof FAULTS;

export interface FaultDetails {
  /** The parameter, as a path: `message.parts[0].text`. */
  readonly field?: string;
  readonly taskId?: string;
  /** The value of `WWW-Authenticate` (RFC 9110 §11.6.1). */
  readonly challenge?: string;
  /** When the call may be retried. */
  readonly retryAfterMs?: number;
  /** Further facts for programs. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** An error meant for the caller. Its cause is logged, never sent. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly details: FaultDetails;
  constructor(code: FaultCode, message: string, details: FaultDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "Fault";
    this.code = code;
    this.details = details;
  }
}

export const toFault = (error: unknown): Fault =>
  error instanceof Fault ? error : new Fault("internal", FAULTS.internal, {}, error);

export const taskNotFound = (taskId: string): Fault =>
  new Fault("task-not-found", FAULTS["task-not-found"], { taskId });

/** Also for an unknown tenant, so that callers cannot tell the two apart. `visible`: the agents that the caller may know of. */
export function agentNotFound(
  name: string | undefined,
  visible: readonly { readonly name: string }[],
): Fault {
  if (name === undefined) return new Fault("agent-not-found", "No agent is available to this caller");
  const names = visible.map(agent => agent.name).join(", ");
  return new Fault("agent-not-found", `Agent "${name}" not found; available: ${names}`);
}
