/** One protocol: its routes, and the conversion between its calls and operations. Pure: no clock, no I/O, no lookup. */

import type { BatchSource } from "../lib/batch-source.ts";
import type { Json } from "../lib/json.ts";
import type { FaultCode, FaultDetails, PushConfig, Scope, Seq, Step } from "../model/index.ts";
import type { Caller, RequestHeaders } from "./caller.ts";
import type { Operation, OperationResult, StepStream } from "./operation.ts";
import type { Release } from "./unread.ts";

export type TransportName = Route["transport"] | "grpc";

/** A call, as far as the form of its replies depends on it: an open stream keeps no more of the call than this. */
export interface ReplyContext {
  readonly transport: TransportName;
  /** The pattern of the path that was called, as a dialect's routes spell it; for gRPC `grpc:PACKAGE`. */
  readonly endpoint: string;
  readonly headers: RequestHeaders;
  readonly query: URLSearchParams;
  readonly method: string;
}

/** One call without the envelope of its transport; the parameters are still in the dialect's words. */
export interface WireCall extends Caller, ReplyContext {
  /** The values of the names in braces in the endpoint's path. */
  readonly vars: PathVars;
  /** Scheme and host under which the caller reached the server, without a trailing slash. */
  readonly base: Lazy<string>;
  readonly params: Json | undefined;
  /** A JSON-RPC call without an id, or with the id null. */
  readonly isNotification?: boolean | undefined;
  /** The size of the request body, roughly. */
  readonly bytes: number;
  /** The member `metadata` of the envelope, beside the parameters (docs/dialects/langgraph.md L19). */
  readonly metadata: Json | undefined;
  /** Ends the caller's reading, never a run. */
  readonly signal: Lazy<AbortSignal>;
}

export type PathVars = Readonly<Record<string, string | undefined>>;

/** The bytes that a binding sends: JSON text, or a protobuf message. */
export type WireBody = string | Uint8Array;

/** How a binding serialises values. All readers of a step in one dialect and one format share the serialised frame. */
export interface BodyFormat<Body extends WireBody = WireBody> {
  encode(value: Json): Body;
  encodeFrame(value: Json): Body;
}

export type WireReply<Body extends WireBody = string> = {
  readonly headers: Readonly<Record<string, string>>;
  readonly envelope: JsonRpcEnvelope;
} & (
  | {
      readonly kind: "unary";
      readonly body: Body;
      /** Of a large body: to be called when it is written or discarded (see `UnreadBytes`). */
      readonly release?: Release;
    }
  | { readonly kind: "stream"; readonly frames: BatchSource<readonly Frame<Body>[]> }
  | { readonly kind: "fault"; readonly fault: WireFault }
);

/** One message of a stream, serialised once for all readers of one dialect and format; or the fault that ends the stream. */
export type Frame<Body extends WireBody = string> = DataFrame<Body> | FaultFrame;
export interface DataFrame<Body extends WireBody = string> {
  readonly id?: Seq | undefined;
  readonly event?: string | undefined;
  readonly data: Body;
  /** This dialect streams without the transport's envelope. */
  readonly bare?: boolean;
  readonly fault?: undefined;
}
export interface FaultFrame {
  readonly id?: undefined;
  readonly event?: undefined;
  readonly fault: WireFault;
}

export interface WireFault extends FaultNumbers {
  readonly code: FaultCode;
  readonly message: string;
  readonly data?: Json;
  /** The HTTP status of a JSON-RPC reply. Most dialects send 200 whenever there is an envelope: see `statusOf`. */
  readonly status: number;
  /** Sent instead of the transport's own form of an error. */
  readonly body?: Json;
  /** Found before the envelope was read: the reply has no id. */
  readonly anonymous?: boolean;
  /** This dialect's clients expect even an error as a stream. */
  readonly asStream?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One protocol version or vendor protocol. */
export interface Dialect {
  readonly name: string;
  /** Where calls arrive and cards are read, as data. */
  readonly routes: readonly Route[];
  /** Total: a new fault does not compile without its codes. */
  readonly faults: FaultTable;
  readonly envelope: JsonRpcEnvelope;
  /** Whether its cards have a member for signatures. */
  readonly signsCards: boolean;
  /** By endpoint, headers and method name; by the shape of the parameters only where versions share a method. */
  claims(call: WireCall): boolean;
  decode(call: WireCall): Operation;
  encode(operation: Operation, answer: OperationResult): Json;
  /** The dialect of a reply about a task that was created in `origin`: versions share `tasks/get` and the like. */
  replyDialect(call: ReplyContext, origin: string): string;
  /** `closing`: the stream ends after this step. `form`: see `Operation`. null: this dialect has no message for the step. */
  encodeStep(step: Step, closing: boolean, form: string | undefined): EncodedStep | null;
  /** The encoder of a stream whose frames depend on earlier ones; null: each step is encoded by itself (`encodeStep`). */
  createEncoder(operation: Operation, call: ReplyContext): StreamEncoder | null;
  /** The webhook request for a step, if the config was set in this dialect; null: none for this step or this config. */
  encodePush(step: Step, config: PushConfig): EncodedPush | null;
  encodeFault(
    fault: { code: FaultCode; message: string; details: FaultDetails },
    call: ReplyContext,
  ): WireFault;
  /** Headers of every reply: the protocol version, and the extensions that are active. */
  replyHeaders(call: ReplyContext, active: readonly string[]): Readonly<Record<string, string>>;
}
export interface EncodedStep {
  readonly event?: string;
  readonly data: Json;
  readonly bare?: boolean;
  /** The members that come from the task, except its generation, stay the same while text is appended to one artifact. */
  readonly stableTaskFields?: boolean;
}
/** Encodes one stream whose frames depend on those before: open blocks of text, numbered events. */
export interface StreamEncoder {
  /** The reader has the frames of the steps up to this one: they are encoded, and not sent. */
  readonly after: Seq | undefined;
  /** The stream ends, though its log may go on. */
  readonly isOver: boolean;
  /** `closing`: the stream ends after this step. */
  encode(step: Step, closing: boolean): readonly EncodedFrame[];
  /** The frames that end the stream because of a fault. */
  encodeFault(fault: WireFault): readonly EncodedFrame[];
}
/** `data`: one line, JSON or a mark such as `[DONE]`. */
export interface EncodedFrame {
  readonly event?: string;
  readonly data: string;
}
export interface EncodedPush {
  /** The Content-Type of the body. */
  readonly type: string;
  readonly body: Json;
  /** Reads the body at each attempt, if the step alone does not have it. */
  readonly readBody?: () => Promise<Json>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Nothing follows, whatever becomes of the task. */
  readonly isLast?: true;
}
/** Encodes the deliveries of webhooks whose configs have this origin: a dialect, or another API. */
export interface PushEncoder {
  readonly name: string;
  encodePush(step: Step, config: PushConfig, scope: Scope): EncodedPush | null;
}
/** What a dialect does with the JSON-RPC envelope. */
export interface JsonRpcEnvelope {
  /** Which calls without an id get a response, with the id null: none, refused ones, all. The others get 204. */
  readonly withoutId: "none" | "faults" | "all";
  /** Whether the messages of a stream carry the call's id. */
  readonly idInFrames: boolean;
}
/** The codes of an error; `grpc` by its name in google.rpc.Code. */
export interface FaultNumbers {
  readonly rpc: number;
  readonly http: number;
  readonly grpc: string;
}
export type FaultTable = Readonly<Record<FaultCode, FaultNumbers>>;
/** `method` becomes the method of the call; for JSON-RPC the body names it. */
export interface Route {
  /** "document": an agent card or the like, which callers may cache. */
  readonly transport: "jsonrpc" | "rest" | "document";
  readonly verb: "GET" | "POST" | "DELETE";
  /** `/agents/{agent}`: a name in braces stands for one segment. */
  readonly path: string;
  readonly method: string;
}

export type ExecuteOperation = (
  operation: Operation,
  scope: Scope,
  signal: Lazy<AbortSignal>,
) => Promise<OperationResult | StepStream>;
/** A value that is made on demand: creating an abort signal costs more than the rest of a get. */
export type Lazy<T> = () => T;
