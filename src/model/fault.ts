/** The catalogue of errors meant for callers. Each dialect has a total table from these to its own numbers. */
export const FAULTS = {
  parse: "The body is not JSON",
  "invalid-request": "The body is JSON, but not a call",
  "method-not-found": "This method does not exist here",
  "invalid-params": "A parameter is missing or wrong",
  internal: "Something failed inside the server",
  "task-not-found": "There is no such task for this caller",
  "task-not-cancelable": "The task has already ended",
  "push-not-supported": "This agent sends no push notifications",
  "unsupported-operation": "This cannot be done with this agent or this task",
  "content-type-not-supported": "The agent does not take this kind of content",
  "invalid-agent-response": "The agent answered with something that is no answer",
  "extended-card-not-configured": "This agent has no extended card",
  "extension-required": "The agent needs an extension that the caller did not name",
  "version-not-supported": "This version of the protocol is not spoken here",
  "agent-not-found": "There is no such agent here",
  unauthenticated: "It is not known who calls",
  forbidden: "This caller may not do this",
  conflict: "Something else happened first",
  "key-reused": "The Idempotency-Key was used before, for another call",
  busy: "The agent is still at an earlier turn of this context",
  "rate-limited": "This caller has reached a limit",
  "too-large": "The call is larger than this server takes",
  "too-slow": "The call took too long to arrive",
  unavailable: "The server cannot take this now",
} as const;

export type FaultCode = keyof typeof FAULTS;

export interface FaultDetails {
  /** Which parameter, as a path: `message.parts[0].text`. */
  readonly field?: string;
  readonly taskId?: string;
  /** How callers can say who they are, as a header has it (RFC 9110 §11.6.1). */
  readonly challenge?: string;
  /** When it may be tried again. */
  readonly retryAfterMs?: number;
  /** Further facts for programs. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** An error meant for the caller: code of ours, a sentence, and details. What caused it is logged, never sent. */
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

export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault("internal", "The server failed while it handled this call", {}, error);
}

export const taskNotFound = (taskId: string): Fault =>
  new Fault("task-not-found", "There is no task with this id", { taskId });

/** Also for a tenant that is not there, so that nobody can tell the one from the other. `served`: what the caller may know of. */
export const agentNotFound = (
  name: string | undefined,
  served: readonly { readonly name: string }[],
): Fault => {
  const names = served.map(agent => agent.name).join(", ");
  if (name === undefined) return new Fault("agent-not-found", "There is no agent here for this caller");
  return new Fault("agent-not-found", `There is no agent "${name}" here; there are: ${names}`);
};
