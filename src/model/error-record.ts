/** An error as it is kept with its task, for operators alone: bounded and without secrets. No dialect writes it. */
export interface ErrorRecord {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  /** Its cause, or the errors that it gathers. */
  readonly causes?: readonly ErrorRecord[];
}

/** A symbol, because whatever else an agent says is copied as JSON and goes to callers. */
const CAUSE = Symbol("cause");

/** Words with which a runtime ends a task because of an error: the words are for callers, the error for operators. */
export const withCause = <T extends object>(event: T, cause: unknown): T =>
  Object.assign(event, { [CAUSE]: cause });

/** undefined: there is none. */
export const causeOf = (event: object): unknown => (event as { readonly [CAUSE]?: unknown })[CAUSE];
