import type { Fault, Scope, Step, TaskId } from "../model/index.ts";
import type {
  CallObserver,
  Log,
  ObservedCall,
  Observer,
  Operation,
  OperationResult,
} from "../ports/index.ts";
import { redact, scrub, shorten } from "./redact.ts";

export interface CallLogParts {
  readonly log: Log;
  /** Whether every call is logged. */
  readonly isVerbose: () => boolean;
  /** Whether the line contains the text of the call. */
  readonly bodies: boolean;
  readonly newId: () => string;
  readonly ticks: () => number;
}

/** Gives calls an id in the log, and logs each call if the level asks for it. */
export const loggedCalls = (parts: CallLogParts): Observer => ({
  startCall: (call, dialect) => new LoggedCall(parts, call, dialect),
});

/** A request id that a caller or proxy may set. */
const REQUEST_ID = /^[\w.:@/+=-]{1,128}$/;
/** Characters of the text of a call. */
const BODY_CHARS_MAX = 4_096;

class LoggedCall implements CallObserver {
  readonly #parts: CallLogParts;
  readonly #binding: ObservedCall["transport"];
  /** As the call named it, or as it was recorded. */
  #traceparent: string | undefined;
  /** The text of the call, if it is logged. */
  readonly #params: ObservedCall["params"];
  readonly #dialect: string;
  readonly #began: number;
  #requestId: string | undefined;
  #operation: Operation["op"] | undefined;
  #agent: Operation["agent"];
  #tenant: string | undefined;
  #taskId: TaskId | undefined;
  #outcome = "ok";

  constructor(parts: CallLogParts, call: ObservedCall, dialect: string) {
    this.#parts = parts;
    this.#binding = call.transport;
    this.#traceparent = call.headers.traceparent;
    this.#params = parts.bodies ? call.params : undefined;
    this.#dialect = dialect;
    this.#began = parts.ticks();
    const given = call.headers["x-request-id"];
    if (given !== undefined && REQUEST_ID.test(given)) this.#requestId = given;
    else if (parts.isVerbose()) this.#requestId = parts.newId();
  }

  onOperation(operation: Operation, scope: Scope): Operation {
    this.#operation = operation.op;
    this.#agent = operation.agent;
    if ("send" in operation) this.#traceparent = operation.send.trace?.traceparent ?? this.#traceparent;
    this.#tenant = scope.tenant;
    return operation;
  }

  onSteps(steps: readonly Step[]): void {
    this.#taskId ??= steps[0]?.taskId;
  }

  onResult(result: OperationResult): void {
    if (result.kind !== "task") return;
    this.#taskId = result.task.id;
    this.#outcome = result.task.status.state;
  }

  onFault({ code }: Fault): void {
    this.#outcome = code;
  }

  onEnd(): void {
    const { log, isVerbose, bodies, ticks } = this.#parts;
    if (!isVerbose()) return;
    const ms = Math.round(ticks() - this.#began);
    const body = bodies && { body: toBody(this.#params) };
    log.debug({ ...this.#fields(), outcome: this.#outcome, ms, ...body }, "a call");
  }

  /** A logged call has an id, which is also in its response. */
  logFields(): object {
    this.#requestId ??= this.#parts.newId();
    const traceId = this.#traceparent?.split("-")[1]?.slice(0, 32);
    return {
      requestId: this.#requestId,
      ...(traceId !== undefined && { traceId }),
      ...(this.#taskId && { taskId: this.#taskId }),
    };
  }

  headers(): Readonly<Record<string, string>> | undefined {
    return this.#requestId === undefined ? undefined : { "X-Request-Id": this.#requestId };
  }

  #fields(): object {
    return {
      ...this.logFields(),
      dialect: this.#dialect,
      binding: this.#binding,
      operation: this.#operation,
      agent: this.#agent,
      tenant: this.#tenant,
    };
  }
}

const toBody = (params: unknown): string =>
  shorten(scrub(JSON.stringify(redact(params)) ?? ""), BODY_CHARS_MAX);
