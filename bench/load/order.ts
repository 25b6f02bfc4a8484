/**
 * The messages between the bench and its load generator, over the channel between parent and child process.
 */

/** The dialect of a call. */
export type Wire = "v1" | "v03" | "v02" | "v01" | "langgraph" | "orloj" | "arbiter" | "simple";

/** The binding of a call. Only sends of v1 use another one than JSON-RPC. */
export type Binding = "jsonrpc" | "rest" | "grpc";

export type Work = { kind: "send" } | { kind: "get" } | { kind: "stream"; chunks: number };

export interface Order {
  port: number;
  wire: Wire;
  over: Binding;
  work: Work;
  connections: number;
  /** No operation starts after this; pending ones are finished and counted. */
  ms: number;
  /** How long pending operations may still take. */
  drainMs: number;
  operationsMax: number;
}

export interface Hold {
  port: number;
  wire: Wire;
  /** Streams to open in addition to those already open. */
  streams: number;
  /** How long opening all of them may take. */
  ms: number;
}

export interface Outcome {
  operations: number;
  /** From the first operation's start to the last one's end. */
  elapsedMs: number;
  /** Operations without a response, or with a wrong one. */
  failures: number;
  /** The error of the first of them. */
  failure: string | undefined;
  /** CPU time of the generator itself, to see whether it was the limit. */
  generatorMs: number;
}

export type Request =
  | { type: "prepare"; order: Order }
  | { type: "go" }
  | { type: "hold"; hold: Hold }
  | { type: "release" };

export type Reply =
  | { type: "ready" }
  | { type: "done"; outcome: Outcome }
  | { type: "held" }
  | { type: "released" }
  | { type: "broken"; why: string };
