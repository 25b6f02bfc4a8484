import { type Span, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { Fault, Scope, Step, Trace } from "../model/index.ts";
import type { CallObserver, ObservedCall, Observer, Operation, OperationResult } from "../ports/index.ts";
import { ATTRIBUTES, aboutContext, aboutTask, toParent, toTrace } from "./spans.ts";
import type { Tracing } from "./tracing.ts";

/** A span per call, child of the span of the caller. */
export const tracedCalls = (tracing: Tracing): Observer => ({
  startCall: (call, dialect) => new TracedCall(tracing, call, dialect),
});

/** Faults of the server, not of the caller. */
const OURS: ReadonlySet<Fault["code"]> = new Set(["internal", "unavailable", "invalid-agent-response"]);

class TracedCall implements CallObserver {
  readonly #span: Span;
  #known = false;

  constructor({ tracer }: Tracing, call: ObservedCall, dialect: string) {
    const attributes = {
      [ATTRIBUTES.dialect]: dialect,
      [ATTRIBUTES.binding]: call.transport,
      [ATTRIBUTES.method]: call.method,
    };
    const options = { kind: SpanKind.SERVER, attributes };
    this.#span = tracer.startSpan("a2a", options, toParent(traceOf(call)));
  }

  onOperation(operation: Operation, scope: Scope): Operation {
    const { op, agent } = operation;
    this.#span.updateName(`a2a ${op}`);
    this.#span.setAttributes({
      [ATTRIBUTES.operation]: op,
      [ATTRIBUTES.tenant]: scope.tenant,
      ...(agent !== undefined && { [ATTRIBUTES.agent]: agent }),
    });
    if (operation.op !== "send" && operation.op !== "stream") return operation;
    // The span of the call is recorded: the run is its child, also after a restart.
    const trace = toTrace(this.#span.spanContext(), operation.send.trace?.baggage);
    return { ...operation, send: { ...operation.send, trace } };
  }

  onSteps(steps: readonly Step[]): void {
    const [first] = steps;
    if (this.#known || !first) return;
    this.#known = true;
    this.#span.setAttributes(aboutTask(first.task));
    this.#span.addEvent("first event");
  }

  onResult(answer: OperationResult): void {
    if (answer.kind === "task")
      this.#span.setAttributes({
        ...aboutTask(answer.task),
        [ATTRIBUTES.outcome]: answer.task.status.state,
      });
    else if (answer.kind === "message" && answer.message.contextId !== undefined)
      this.#span.setAttributes(aboutContext(answer.message.contextId, undefined));
  }

  onFault(fault: Fault): void {
    this.#span.setAttributes({ [ATTRIBUTES.outcome]: fault.code, [ATTRIBUTES.error]: fault.code });
    if (OURS.has(fault.code)) this.#span.setStatus({ code: SpanStatusCode.ERROR, message: fault.message });
  }

  onEnd(): void {
    this.#span.end();
  }

  logFields(): object {
    return { traceId: this.#span.spanContext().traceId };
  }

  headers(): undefined {}
}

function traceOf({ headers }: ObservedCall): Trace | undefined {
  const { traceparent, tracestate } = headers;
  if (traceparent === undefined) return undefined;
  return { traceparent, ...(tracestate !== undefined && { tracestate }) };
}
