/** Where and why it went wrong, for programs that want more than the message. */
export interface StartupErrorDetails {
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly reason?: string | undefined;
  readonly hint?: string | undefined;
  /** One line each; empty: the message is the only problem. */
  readonly problems?: readonly string[];
  readonly cause?: unknown;
}

/** The server or the command cannot start, and the operator can fix it: the message says what is wrong and what to do. */
export class StartupError extends Error {
  override readonly name = "StartupError";
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly reason: string | undefined;
  readonly hint: string | undefined;
  readonly problems: readonly string[];

  constructor(message: string, details: StartupErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.file = details.file;
    this.line = details.line;
    this.reason = details.reason;
    this.hint = details.hint;
    this.problems = details.problems ?? [message];
  }
}
