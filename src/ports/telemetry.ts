import type { Fault, Scope, Step } from "../model/index.ts";
import type { Operation, OperationResult } from "./operation.ts";
import type { WireCall } from "./protocol.ts";

/** The members of a call that observers see; MCP tool calls are observed as well. */
export type ObservedCall = Pick<WireCall, "headers" | "method" | "params"> & {
  readonly transport: WireCall["transport"] | "mcp";
};

/** Observes calls from the outside: logs, metrics, traces. */
export interface Observer {
  startCall(call: ObservedCall, dialect: string): CallObserver;
}

/** Observes one call. */
export interface CallObserver {
  /** The operation was decoded and authorized. Returns the operation to execute: a trace may give it another parent. */
  onOperation(operation: Operation, scope: Scope): Operation;
  /** Steps of a stream were read. */
  onSteps(steps: readonly Step[]): void;
  onResult(result: OperationResult): void;
  /** Also of a stream that ends with a fault. */
  onFault(fault: Fault): void;
  /** Once, after everything else. */
  onEnd(): void;
  /** For lines of the log about this call. */
  logFields(): object;
  /** Headers for the reply; undefined: none. */
  headers(): Readonly<Record<string, string>> | undefined;
}

/** What this process has counted since its start, for the admin API. */
export interface MeterTotals {
  readonly calls: readonly {
    readonly dialect: string;
    readonly operation: string;
    /** "ok", or the code of a fault. */
    readonly outcome: string;
    readonly count: number;
  }[];
  readonly callSeconds: HistogramTotals;
  readonly firstEventSeconds: HistogramTotals;
  readonly commitSeconds: HistogramTotals;
  readonly events: number;
  /** The outcome is the state of the task, "broken" or "released". */
  readonly runs: readonly { readonly agent: string; readonly outcome: string; readonly count: number }[];
  readonly crashes: readonly { readonly agent: string; readonly count: number }[];
  readonly pushes: { readonly taken: number; readonly failed: number; readonly givenUp: number };
}
export interface HistogramTotals {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** Per bucket, and one more for values above all bounds. */
  readonly counts: readonly number[];
}

/** Observes the commits of a store and how long they take. */
export interface CommitObserver {
  /** The returned function is called when the commit is done. */
  startCommit(): (tasks: number, events: number) => void;
  onFailure(): void;
}
