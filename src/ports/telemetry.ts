import type { Fault, Scope, Step } from "../model/index.ts";
import type { WireCall } from "./index.ts";
import type { Answer, Operation } from "./operation.ts";

/** What whoever watches may know of a call; tools of MCP are called as well. */
export type ObservedCall = Pick<WireCall, "headers" | "method" | "params"> & {
  readonly transport: WireCall["transport"] | "mcp";
};

/** Whoever watches calls from the doorway. */
export interface Observer {
  begin(call: ObservedCall, dialect: string): CallObserver;
}

/** One call as it is watched: told what becomes of it as it happens, and of its end once. */
export interface CallObserver {
  /** What is asked, and for whom. What is done is what comes back: it may have another place in a trace. */
  asked(operation: Operation, scope: Scope): Operation;
  /** A stream goes on with these. */
  read(steps: readonly Step[]): void;
  answered(answer: Answer): void;
  /** Also of a stream that breaks off. */
  refused(fault: Fault): void;
  ended(): void;
  /** For lines of the log about this call. */
  facts(): object;
  /** For its reply; undefined: none. */
  headers(): Readonly<Record<string, string>> | undefined;
}

/** Whoever watches what a store writes, and how long that takes. */
export interface CommitObserver {
  /** A commit begins; what is returned is to be called when it is done. */
  begin(): (tasks: number, events: number) => void;
  /** One could not be written. */
  failed(): void;
}
