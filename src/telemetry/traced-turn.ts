import { type Attributes, type Context, type Span, SpanStatusCode, trace as spans } from "@opentelemetry/api";
import type { JsonObject } from "../lib/json.ts";
import type { Credential, Message, StepKey, StepRecord, Task, Trace } from "../model/index.ts";
import type {
  AuthorizationOptions,
  AuthorizationRequest,
  ContextStorage,
  Log,
  McpResult,
  McpServer,
  McpServerProvider,
  Outbound,
  Turn,
} from "../ports/index.ts";
import { ATTRIBUTES, toTrace } from "./spans.ts";
import { withTraceHeaders } from "./traced-outbound.ts";
import type { Tracing } from "./tracing.ts";

export interface TurnTrace {
  readonly tracing: Tracing;
  readonly span: Span;
  /** Contains the span of the run. */
  readonly context: Context;
  /** Attributes of all spans of the run. */
  readonly facts: Attributes;
}

/** The turn with its trace context; each step gets a span. */
export class TracedTurn implements Turn {
  readonly #turn: Turn;
  readonly #traced: TurnTrace;
  readonly #steps = new Map<string, Span>();
  #trace: Trace | undefined;
  #isOver = false;
  #outbound: Outbound | undefined;

  constructor(turn: Turn, traced: TurnTrace) {
    this.#turn = turn;
    this.#traced = traced;
  }

  async findStep(place: StepKey): Promise<StepRecord | null> {
    const note = await this.#turn.findStep(place);
    if (place.kind !== "step") return note;
    if (note) this.#traced.span.addEvent("step found on record", { [ATTRIBUTES.step]: place.name });
    else this.#begin(place);
    return note;
  }

  async recordStep(note: StepRecord): Promise<void> {
    const step = this.#steps.get(keyOf(note));
    if (!step) this.#traced.span.addEvent(note.kind, { [ATTRIBUTES.step]: note.name });
    try {
      await this.#turn.recordStep(note);
    } finally {
      if (note.threw) step?.setStatus({ code: SpanStatusCode.ERROR });
      step?.end();
      this.#steps.delete(keyOf(note));
    }
  }

  /** Ends the spans of unfinished steps when the run is over. */
  close(): void {
    this.#isOver = true;
    if (this.#trace) this.#traced.tracing.dropFacts(this.#traced.span);
    for (const step of this.#steps.values()) step.end();
    this.#steps.clear();
  }

  #begin(place: StepKey): void {
    const { tracing, facts } = this.#traced;
    const attributes = { ...facts, [ATTRIBUTES.step]: place.name };
    const span = tracing.tracer.startSpan(`step ${place.name}`, { attributes }, this.#traced.context);
    this.#steps.set(keyOf(place), span);
  }

  /** For agents and tools that the agent calls: most agents call none. */
  get trace(): Trace {
    if (this.#trace) return this.#trace;
    const { tracing, span, facts } = this.#traced;
    if (!this.#isOver) tracing.keepFacts(span, facts);
    this.#trace = toTrace(span.spanContext(), this.#turn.task.trace?.baggage);
    return this.#trace;
  }

  get outbound(): Outbound {
    const { guarded, trusted } = this.#turn.outbound;
    const { trace } = this;
    this.#outbound ??= {
      guarded: withTraceHeaders(guarded, trace),
      trusted: withTraceHeaders(trusted, trace),
    };
    return this.#outbound;
  }

  get agents(): Turn["agents"] {
    return this.#turn.agents;
  }

  get tools(): McpServerProvider {
    return async name => {
      const server = await this.#turn.tools(name);
      return {
        listTools: signal => server.listTools(signal),
        callTool: (tool, input, signal) => this.#callTool(server, tool, input, signal),
      };
    };
  }

  async #callTool(
    server: McpServer,
    tool: string,
    input: JsonObject,
    signal: AbortSignal,
  ): Promise<McpResult> {
    const { tracing, facts } = this.#traced;
    const about = { [ATTRIBUTES.genOperation]: "execute_tool", [ATTRIBUTES.tool]: tool };
    const options = { attributes: { ...facts, ...about } };
    const span = tracing.tracer.startSpan(`execute_tool ${tool}`, options, this.#traced.context);
    try {
      const result = await server.callTool(tool, input, signal);
      if (result.isError) span.setStatus({ code: SpanStatusCode.ERROR });
      return result;
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }

  get task(): Task {
    return this.#turn.task;
  }

  get message(): Message {
    return this.#turn.message;
  }

  get attempt(): number {
    return this.#turn.attempt;
  }

  get signal(): AbortSignal {
    return this.#turn.signal;
  }

  get log(): Log {
    return this.#turn.log;
  }

  get incoming(): AsyncIterable<Message> {
    return this.#turn.incoming;
  }

  get storage(): ContextStorage {
    return this.#turn.storage;
  }

  get items(): Turn["items"] {
    return this.#turn.items;
  }

  get caller(): Turn["caller"] {
    return this.#turn.caller;
  }

  credentials(name: string): Promise<Credential | undefined> {
    return this.#turn.credentials(name);
  }

  authorizationOptions(request: AuthorizationRequest): AuthorizationOptions {
    return this.#turn.authorizationOptions(request);
  }

  history(): Promise<readonly Message[]> {
    return this.#turn.history();
  }

  newId(): string {
    return this.#turn.newId();
  }

  wait(ms: number, signal: AbortSignal, inStep: boolean): Promise<void> {
    return this.#turn.wait(ms, signal, inStep);
  }

  now(): number {
    return this.#turn.now();
  }

  random(): number {
    return this.#turn.random();
  }
}

const keyOf = ({ kind, name, nth }: StepKey): string => `${kind} ${nth} ${name}`;

/** The context in which the span is the parent. */
export const contextOf = (parent: Context, span: Span): Context => spans.setSpan(parent, span);
