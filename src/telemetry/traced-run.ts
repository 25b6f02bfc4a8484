import { type Attributes, context, type Link, type Span, SpanStatusCode } from "@opentelemetry/api";
import { sumUsage, textOf, type Usage } from "../model/index.ts";
import type { Agent, AgentEvent, AgentRuntime, Turn } from "../ports/index.ts";
import { scrub } from "./redact.ts";
import { ATTRIBUTES, aboutTask, toParent, toSpanContext } from "./spans.ts";
import { contextOf, TracedTurn } from "./traced-turn.ts";
import type { Tracing } from "./tracing.ts";

/** Characters of message text in a span. */
const CONTENT_CHARS_MAX = 8_192;

/** A span per run, child of the span of the call that began its turn. */
export function tracedAgent(agent: Agent, tracing: Tracing): Agent {
  const { runtime } = agent;
  const run: AgentRuntime["run"] = turn => new TracedRun(runtime, turn, tracing);
  return { ...agent, runtime: { name: runtime.name, run } };
}

type Result = IteratorResult<AgentEvent, unknown>;

class TracedRun implements AsyncIterableIterator<AgentEvent> {
  readonly #span: Span;
  readonly #turn: TracedTurn;
  readonly #spanContext: ReturnType<typeof contextOf>;
  readonly #events: AsyncIterator<AgentEvent>;
  readonly #tracing: Tracing;
  #usage: Usage | undefined;
  #text = "";
  #hasOutput = false;
  #outcome: string | undefined;
  #ended = false;

  constructor(runtime: AgentRuntime, turn: Turn, tracing: Tracing) {
    const { task } = turn;
    const facts = aboutTask(task);
    const parent = toParent(task.trace);
    this.#tracing = tracing;
    this.#span = tracing.startSpan(
      `invoke_agent ${task.agent}`,
      { attributes: { ...facts, ...toAttributes(turn, tracing) }, links: toLinks(turn, tracing) },
      parent,
      tracing.idOfRun(task.id, task.attempt),
    );
    this.#spanContext = contextOf(parent, this.#span);
    this.#turn = new TracedTurn(turn, { tracing, span: this.#span, context: this.#spanContext, facts });
    this.#events = context.with(this.#spanContext, () => runtime.run(this.#turn)[Symbol.asyncIterator]());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result> {
    try {
      // The span is active while the agent runs, so that libraries continue the trace.
      const result = await context.with(this.#spanContext, () => this.#events.next());
      if (result.done) this.#end("completed");
      else this.#onEvent(result.value);
      return result;
    } catch (error) {
      const { name = "Error", message = "" } = error as Partial<Error>;
      this.#span.recordException({ name, message: scrub(message) });
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message: "the agent failed" });
      this.#end("failed");
      throw error;
    }
  }

  async return(): Promise<Result> {
    this.#end("stopped");
    return (await this.#events.return?.()) ?? { done: true, value: undefined };
  }

  #onEvent(event: AgentEvent): void {
    if (event.type === "usage") this.#usage = sumUsage(this.#usage, event.usage);
    else if (!this.#hasOutput) {
      this.#hasOutput = true;
      this.#span.addEvent("first word");
    }
    if (event.type === "reply") this.#outcome = "completed";
    if (event.type === "status" && event.state !== "working") this.#outcome = event.state;
    if (this.#outcome === "failed") this.#span.setStatus({ code: SpanStatusCode.ERROR });
    if (this.#tracing.content) this.#addText(event);
  }

  #addText(event: AgentEvent): void {
    if (this.#text.length >= CONTENT_CHARS_MAX) return;
    const parts =
      event.type === "artifact"
        ? event.artifact.parts
        : event.type === "usage" || event.type === "chunk"
          ? undefined
          : event.message?.parts;
    if (parts) this.#text += textOf(parts);
  }

  #end(outcome: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#turn.close();
    this.#span.setAttributes({ ...toUsage(this.#usage), [ATTRIBUTES.outcome]: this.#outcome ?? outcome });
    if (this.#text !== "") this.#span.setAttributes(toOutput(this.#text.slice(0, CONTENT_CHARS_MAX)));
    this.#span.end();
  }
}

function toAttributes({ task, attempt, message, caller }: Turn, { content }: Tracing): Attributes {
  const text = content ? textOf(message.parts).slice(0, CONTENT_CHARS_MAX) : "";
  return {
    [ATTRIBUTES.genOperation]: "invoke_agent",
    [ATTRIBUTES.dialect]: task.origin,
    [ATTRIBUTES.tenant]: caller.tenant,
    [ATTRIBUTES.turn]: task.turn,
    [ATTRIBUTES.attempt]: attempt,
    ...(text !== "" && {
      [ATTRIBUTES.prompt]: text,
      [ATTRIBUTES.inputMessages]: toMessages("user", text),
    }),
  };
}

const toOutput = (text: string): Attributes => ({
  [ATTRIBUTES.completion]: text,
  [ATTRIBUTES.outputMessages]: toMessages("assistant", text),
});

const toMessages = (role: string, content: string): string =>
  JSON.stringify([{ role, parts: [{ type: "text", content }] }]);

/** Links to earlier attempts: their span ids follow from the task, so that a restart knows them. */
function toLinks({ task, attempt }: Turn, tracing: Tracing): Link[] {
  const first = task.attempt - attempt + 1;
  const parent = first < task.attempt && task.trace && toSpanContext(task.trace);
  if (!parent) return [];
  const links: Link[] = [];
  for (let before = first; before < task.attempt; before++) {
    const spanId = tracing.idOfRun(task.id, before);
    if (spanId !== undefined)
      links.push({ context: { ...parent, spanId }, attributes: { [ATTRIBUTES.attempt]: before } });
  }
  return links;
}

const TOKENS: Readonly<Record<string, string>> = {
  inputTokens: ATTRIBUTES.inputTokens,
  outputTokens: ATTRIBUTES.outputTokens,
};

const toUsage = (usage: Usage = {}): Attributes =>
  Object.fromEntries(
    Object.entries(usage).map(([name, count]) => [TOKENS[name] ?? `${ATTRIBUTES.usage}.${name}`, count]),
  );
