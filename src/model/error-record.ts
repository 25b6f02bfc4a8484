/** An error as it is stored with its task, for operators alone: bounded and without secrets. No dialect encodes it. */
export interface ErrorRecord {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  /** Its `cause`, or the errors of an AggregateError. */
  readonly causes?: readonly ErrorRecord[];
}

/** A symbol, because all other members of an agent's event are copied as JSON and sent to callers. */
const CAUSE = Symbol("cause");

/** Attaches the error that made a runtime end a task: the event is for callers, the error for operators. */
export const withCause = <T extends object>(event: T, cause: unknown): T =>
  Object.assign(event, { [CAUSE]: cause });

/** undefined: there is none. */
export const causeOf = (event: object): unknown => (event as { readonly [CAUSE]?: unknown })[CAUSE];
