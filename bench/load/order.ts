/** What the bench and its load generator say to each other, over the channel between parent and child process. */

/** How a call is spelled. */
export type Wire = "v1" | "v03" | "v02" | "v01" | "langgraph" | "orloj" | "arbiter" | "simple";

/** What a call is spelled over. Only sends of v1 go over anything but JSON-RPC. */
export type Over = "jsonrpc" | "rest" | "grpc";

export type Work = { kind: "send" } | { kind: "get" } | { kind: "stream"; chunks: number };

export interface Order {
  port: number;
  wire: Wire;
  over: Over;
  work: Work;
  connections: number;
  /** No operation starts after this; those under way are finished and counted. */
  ms: number;
  /** How long operations under way may still take. */
  drainMs: number;
  operationsMax: number;
}

export interface Hold {
  port: number;
  wire: Wire;
  /** Streams to open in addition to those already held. */
  streams: number;
  /** How long opening all of them may take. */
  ms: number;
}

export interface Outcome {
  operations: number;
  /** From the first operation's start to the last one's end. */
  elapsedMs: number;
  /** Operations not answered, or answered wrongly. */
  failures: number;
  /** What was wrong with the first of them. */
  failure: string | undefined;
  /** CPU time of the generator itself, to see whether it was the limit. */
  generatorMs: number;
}

export type Ask =
  | { ask: "prepare"; order: Order }
  | { ask: "go" }
  | { ask: "hold"; hold: Hold }
  | { ask: "release" };

export type Say =
  | { say: "ready" }
  | { say: "done"; outcome: Outcome }
  | { say: "held" }
  | { say: "released" }
  | { say: "broken"; why: string };
