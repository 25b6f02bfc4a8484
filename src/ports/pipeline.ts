import type { Fault } from "../model/index.ts";
import type { Principal } from "./auth.ts";
import type { Caller } from "./caller.ts";
import type { Operation, OperationResult, StepStream } from "./operation.ts";
import type { BodyFormat, Lazy, WireBody, WireCall, WireReply } from "./protocol.ts";
import type { CallObserver, ObservedCall } from "./telemetry.ts";

/** A call whose body has not been read: the pipeline authenticates the caller first. */
export interface IncomingCall<Body extends WireBody> {
  readonly caller: Caller;
  /** The agent that the path or a header names. */
  readonly agent: string | undefined;
  /** Whether anonymous callers are let through to the operation: cards and other documents are public. */
  readonly isPublic: boolean;
  readonly format: BodyFormat<Body>;
  /** Reads and parses the body. Throws a Fault that is answered in the dialect, or an error of the transport. */
  read(): WireCall | Promise<WireCall>;
  /** The call without its body, for a fault before or while it is read. A body that nothing has begun to read is skipped. */
  withoutBody(): WireCall;
}

/** The way of every call. MCP, whose library reads and writes the messages, takes the steps of `handle` one by one. */
export interface Pipeline {
  /** Rejects only with an error of the transport; all other errors are replies. */
  handle<Body extends WireBody>(call: IncomingCall<Body>): Promise<WireReply<Body>>;
  /**
   * Needs the headers only. Throws a Fault if the credentials are not valid, or if there are none and `agent` (undefined:
   * every agent) requires them.
   */
  authenticate(
    caller: Caller,
    agent: string | undefined,
  ): Principal | undefined | Promise<Principal | undefined>;
  /** undefined: calls are not observed. */
  startCall(call: ObservedCall, dialect: string): CallObserver | undefined;
  /** Authorizes the operation and executes it. */
  execute(operation: Operation, context: ExecutionContext): Promise<OperationResult | StepStream>;
  /** Tells the observer of an error, and logs one that callers must not see. */
  recordFault(
    error: unknown,
    call: Pick<ObservedCall, "method">,
    dialect: string,
    observer?: CallObserver,
  ): Fault;
}

/** On whose behalf an operation is executed. */
export interface ExecutionContext {
  readonly principal: Principal | undefined;
  readonly observer: CallObserver | undefined;
  readonly signal: Lazy<AbortSignal>;
  /** The size of the body, which the quota of the caller may limit. */
  readonly bytes?: number;
}
