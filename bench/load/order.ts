/**
 * The messages between the bench and its load generator, over the channel between parent and child process.
 */

/** The dialect of a call. */
export type Wire = RpcWire | FrontEnd;
export type RpcWire =
  | "v11"
  | "v1"
  | "v03"
  | "v02"
  | "v01"
  | "langgraph"
  | "orloj"
  | "arbiter"
  | "simple"
  | "mcp";
/** `runs`: a run of LangGraph's API. */
export type FrontEnd = "chat" | "responses" | "aisdk" | "agui" | "runs";

/** The binding of a call. Only sends of v1, and front ends, use another one than JSON-RPC. */
export type Binding = "jsonrpc" | "rest" | "grpc";

export type Work =
  | { kind: "send" }
  | { kind: "get" }
  | { kind: "stream"; chunks: number }
  /** The events of a finished stream, from the first one on. */
  | { kind: "resume"; chunks: number }
  /** One page of finished tasks. */
  | { kind: "list" }
  /** A send with a webhook; each delivery is an operation. */
  | { kind: "push" };

/** The tasks of one page. */
export const LIST_PAGE = 100;

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
  wire: RpcWire;
  /** Streams to open in addition to those already open. */
  streams: number;
  /** How long opening all of them may take. */
  ms: number;
}

/** Streams whose agents send `count` events with a pause between them, from a given time on. */
export interface Pace {
  port: number;
  streams: number;
  count: number;
  pauseMs: number;
  /** Milliseconds since 1970. */
  beginMs: number;
}

export interface PaceOutcome {
  events: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time of the generator itself. */
  generatorMs: number;
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
  | { type: "release" }
  | { type: "pace"; pace: Pace };

export type Reply =
  | { type: "ready" }
  | { type: "done"; outcome: Outcome }
  | { type: "held" }
  | { type: "released" }
  | { type: "paced"; outcome: PaceOutcome }
  | { type: "broken"; why: string };
