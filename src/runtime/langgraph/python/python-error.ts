/** Errors of a Python graph, as the worker reports them. */

export interface PythonErrorFacts {
  readonly name: string;
  readonly message: string;
  readonly traceback: string;
  /** The place in a file of the user. */
  readonly file?: string;
  readonly line?: number;
  /** The module that was not found. */
  readonly module?: string;
  /** Of a validation error: what the caller can correct. */
  readonly issues?: readonly { readonly message: string; readonly path: readonly (string | number)[] }[];
}

const CODES: Readonly<Record<string, string>> = { GraphRecursionError: "GRAPH_RECURSION_LIMIT" };

/** An exception in Python. Its stack is the traceback, so that operators see the file and the line. */
export class PythonError extends Error {
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly issues: PythonErrorFacts["issues"];
  readonly lc_error_code: string | undefined;

  constructor(facts: PythonErrorFacts) {
    super(facts.message);
    this.name = facts.name;
    this.stack = `${facts.name}: ${facts.message}\n${facts.traceback}`;
    this.file = facts.file;
    this.line = facts.line;
    this.issues = facts.issues;
    this.lc_error_code = CODES[facts.name];
  }
}

/** The process of a graph has ended while it was needed. */
export class WorkerExit extends Error {
  override readonly name = "WorkerExit";
}
