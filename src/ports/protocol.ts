/** One protocol: its routes, and the conversion between its calls and operations. Pure: no clock, no I/O, no lookup. */

import type { BatchSource } from "../lib/batch-source.ts";
import type { Json } from "../lib/json.ts";
import type { Fault, FaultCode, FaultDetails, PushConfig, Scope, Seq, Step } from "../model/index.ts";
import type { Authenticated } from "./auth.ts";
import type { Caller } from "./caller.ts";
import type { Answer, Operation, Steps } from "./operation.ts";
import type { Release } from "./unread.ts";

export type TransportName = Route["transport"] | "grpc";
/** Header names in lower case; a header that came twice is joined with a comma, as HTTP allows. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** How somebody calls, as far as the form of a reply depends on it: what is kept of a call while its stream is open. */
export interface ReplyContext {
  readonly transport: TransportName;
  /** The pattern of the path that was called, as a dialect's routes spell it; for gRPC `grpc:PACKAGE`. */
  readonly endpoint: string;
  readonly headers: Headers;
  readonly query: URLSearchParams;
  readonly method: string;
}

/** One call as a transport understood it: the envelope is gone, the words are still the dialect's. */
export interface WireCall extends Caller, ReplyContext {
  /** What stands in the path where the endpoint has a name in braces. */
  readonly vars: PathVars;
  /** Scheme and host under which the caller reached us, without a trailing slash. */
  readonly base: Lazy<string>;
  readonly params: Json | undefined;
  /** How large it came, roughly. */
  readonly bytes: number;
  /** What came in the envelope beside the parameters (seed 001 of the LangGraph dialect). */
  readonly metadata: Json | undefined;
  /** Ends the caller's reading, never a run. */
  readonly signal: Lazy<AbortSignal>;
}

export type PathVars = Readonly<Record<string, string | undefined>>;

export type WireReply = {
  readonly headers: Readonly<Record<string, string>>;
  readonly envelope: Envelope;
} /** `release`, of a large answer: to be called when it is written, or is not wanted (see `Unread`). */ & (
  | { readonly kind: "one"; readonly json: string; readonly release?: Release }
  | { readonly kind: "many"; readonly frames: BatchSource<readonly Frame[]> }
  | { readonly kind: "fault"; readonly fault: WireFault }
);

/** One piece of a stream; its JSON is made once per dialect, however many readers there are. */
export interface Frame {
  readonly id?: Seq;
  readonly event?: string;
  readonly json: string;
  /** This dialect streams without the transport's envelope. */
  readonly bare?: boolean;
  /** The stream breaks off with this; `json` is empty. */
  readonly fault?: WireFault;
}

export interface WireFault extends FaultNumbers {
  readonly code: FaultCode;
  readonly message: string;
  readonly data?: Json;
  /** The HTTP status of a JSON-RPC reply. Most dialects say 200 whenever there is an envelope: see `statusOf`. */
  readonly status: number;
  /** Said instead of the transport's own form of an error. */
  readonly body?: Json;
  /** Found out before the envelope was read: the reply has no id. */
  readonly anonymous?: boolean;
  /** This dialect's readers expect even a refusal as a stream. */
  readonly asStream?: boolean;
}

export interface Pipeline {
  /**
   * Asked before anything of a call is read: a Fault if its caller is not known, and has to be. `agent`: whom the call is
   * for, if that is known by then.
   */
  authenticate(caller: Caller, agent: string | undefined): Authenticated | Promise<Authenticated>;
  /** `met`: what was found out about the caller, if somebody asked before. */
  handle(call: WireCall, met?: Authenticated): Promise<WireReply>;
  /** A refusal before there was a call: still said in the dialect that the caller seems to speak. */
  refuse(call: WireCall, fault: Fault): WireReply;
}

export interface Dialect {
  readonly name: string;
  /** Where calls arrive and cards are read, as data. */
  readonly routes: readonly Route[];
  /** Total: a new fault will not compile without its numbers. */
  readonly faults: FaultTable;
  /** What it does with the JSON-RPC envelope. */
  readonly envelope: Envelope;
  /** Whether its cards have a place for signatures. */
  readonly signsCards: boolean;
  /** By endpoint, headers and method name; by the shape of the parameters only where generations share a method. */
  claims(call: WireCall): boolean;
  decode(call: WireCall): Operation;
  encode(operation: Operation, answer: Answer): Json;
  /** Which dialect speaks the answer about what was made in `origin`: generations share `tasks/get` and its kin. */
  replyDialect(call: ReplyContext, origin: string): string;
  /**
   * `closing`: the stream ends after this step. `form`: see `Operation`. null: this dialect has no word for it.
   */
  encodeStep(step: Step, closing: boolean, form: string | undefined): EncodedStep | null;
  /** What a webhook that was set in this dialect gets for a step; null: nothing, or nothing that the config asks for. */
  encodePush(step: Step, config: PushConfig): EncodedPush | null;
  encodeFault(
    fault: { code: FaultCode; message: string; details: FaultDetails },
    call: ReplyContext,
  ): WireFault;
  /** Headers of every reply: which version was spoken, which extensions are active. */
  replyHeaders(call: ReplyContext, active: readonly string[]): Readonly<Record<string, string>>;
}
export interface EncodedStep {
  readonly event?: string;
  readonly data: Json;
  readonly bare?: boolean;
  /** What it took from the task does not change while words are added to the same artifact. */
  readonly steady?: boolean;
}
export interface EncodedPush {
  /** The Content-Type of the body. */
  readonly type: string;
  readonly body: Json;
}
/** What a dialect does with the JSON-RPC envelope around its words. */
export interface Envelope {
  /** What a call without an id gets: nothing but a status, or an answer under the id null. */
  readonly withoutId: 202 | 204 | "answer";
  readonly nullId: 202 | "answer";
  /** Whether the pieces of a stream carry the call's id. */
  readonly idInFrames: boolean;
}
/** The three numbers of an error; `grpc` by its name in google.rpc.Code. */
export interface FaultNumbers {
  readonly rpc: number;
  readonly http: number;
  readonly grpc: string;
}
export type FaultTable = Readonly<Record<FaultCode, FaultNumbers>>;
/** `method` is what a transport puts in the call; for JSON-RPC the body names it. */
export interface Route {
  /** "document": a card and the like, which callers may keep for a while. */
  readonly transport: "jsonrpc" | "rest" | "document";
  readonly verb: "GET" | "POST" | "DELETE";
  /** `/agents/{agent}`: a part in braces is one segment. */
  readonly path: string;
  readonly method: string;
}

export type ExecuteOperation = (
  operation: Operation,
  scope: Scope,
  signal: Lazy<AbortSignal>,
) => Promise<Answer | Steps>;
/** A value that is made only if somebody asks: an abort signal costs more than the rest of a get. */
export type Lazy<T> = () => T;
