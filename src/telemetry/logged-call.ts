import type { Fault, Scope, Step, TaskId } from "../model/index.ts";
import type { Answer, CallObserver, Log, ObservedCall, Observer, Operation } from "../ports/index.ts";
import { redact, scrub, shorten } from "./redact.ts";

export interface CallLogParts {
  readonly log: Log;
  /** Whether each call gets a line. */
  readonly isVerbose: () => boolean;
  /** Whether that line has what the call said. */
  readonly bodies: boolean;
  readonly newId: () => string;
  readonly ticks: () => number;
}

/** Names calls in the log, and tells of each one if somebody wants to know. */
export const loggedCalls = (parts: CallLogParts): Observer => ({
  begin: (call, dialect) => new LoggedCall(parts, call, dialect),
});

/** What a caller, or the proxy before us, may call a request. */
const REQUEST_ID = /^[\w.:@/+=-]{1,128}$/;
/** Characters of what a call said. */
const BODY_CHARS_MAX = 4_096;

class LoggedCall implements CallObserver {
  readonly #parts: CallLogParts;
  readonly #binding: ObservedCall["transport"];
  /** As the call gave it, or as it was recorded. */
  #traceparent: string | undefined;
  /** What the call said, if that is told. */
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

  asked(operation: Operation, scope: Scope): Operation {
    this.#operation = operation.op;
    this.#agent = operation.agent;
    if ("send" in operation) this.#traceparent = operation.send.trace?.traceparent ?? this.#traceparent;
    this.#tenant = scope.tenant;
    return operation;
  }

  read(steps: readonly Step[]): void {
    this.#taskId ??= steps[0]?.taskId;
  }

  answered(answer: Answer): void {
    if (answer.kind !== "task") return;
    this.#taskId = answer.task.id;
    this.#outcome = answer.task.status.state;
  }

  refused({ code }: Fault): void {
    this.#outcome = code;
  }

  ended(): void {
    const { log, isVerbose, bodies, ticks } = this.#parts;
    if (!isVerbose()) return;
    const ms = Math.round(ticks() - this.#began);
    const body = bodies && { body: toBody(this.#params) };
    log.debug({ ...this.#told(), outcome: this.#outcome, ms, ...body }, "a call");
  }

  /** A call that the log tells of has an id, and its reply tells it. */
  facts(): object {
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

  #told(): object {
    return {
      ...this.facts(),
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
