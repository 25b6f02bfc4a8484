/** The nodes, models and tools of a graph as spans below the run. */
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { AgentTask, Ctx } from "../../agent/context.ts";
import { isRecord } from "../shared/options.ts";

/** The global registry of the OpenTelemetry API: without an SDK there are no spans. */
const API = Symbol.for("opentelemetry.js.api.1");
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

type Method = (...all: readonly unknown[]) => void;
export type GraphCallbacks = { readonly name: string } & Readonly<Record<string, Method | string | boolean>>;

/** Without content: the messages of a run are attributes of the run itself, with `--trace-content`. */
export function createSpanHandler(task: AgentTask, { trace: runTrace }: Ctx): GraphCallbacks | undefined {
  const isTraced = (globalThis as { [API]?: { readonly trace?: unknown } })[API]?.trace !== undefined;
  const [, traceId, spanId, flags] = TRACEPARENT.exec(runTrace?.traceparent ?? "") ?? [];
  if (!isTraced || traceId === undefined || spanId === undefined) return undefined;
  const traceFlags = Number.parseInt(flags as string, 16);
  const run = trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: false });
  return toHandler(new GraphSpans(trace.getTracer("dragoman"), run, task.thread));
}

class GraphSpans {
  readonly #tracer: Tracer;
  readonly #run: Context;
  readonly #thread: string;
  readonly #open = new Map<unknown, Span>();

  constructor(tracer: Tracer, run: Context, thread: string) {
    this.#tracer = tracer;
    this.#run = run;
    this.#thread = thread;
  }

  start(kind: string, name: unknown, id: unknown, parentId: unknown): void {
    const parent = this.#open.get(parentId);
    const context = parent ? trace.setSpan(this.#run, parent) : this.#run;
    const attributes = { "langsmith.span.kind": kind, "langsmith.metadata.thread_id": this.#thread };
    this.#open.set(
      id,
      this.#tracer.startSpan(typeof name === "string" ? name : kind, { attributes }, context),
    );
  }

  end(id: unknown, isFailed: boolean): void {
    const span = this.#open.get(id);
    if (isFailed) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
    this.#open.delete(id);
  }
}

/** LangChain calls these with the arguments in an order of its own for each kind. */
function toHandler(spans: GraphSpans): GraphCallbacks {
  const end: Method = (_output, id) => spans.end(id, false);
  const fail: Method = (_error, id) => spans.end(id, true);
  return {
    name: "dragoman spans",
    awaitHandlers: true,
    handleChainStart(_chain, _inputs, id, parent, tags, _metadata, _type, name) {
      if (!Array.isArray(tags) || !tags.includes(HIDDEN)) spans.start("chain", name, id, parent);
    },
    handleChainEnd: end,
    handleChainError: fail,
    handleChatModelStart: (model, _messages, id, parent, _extra, _tags, _metadata, name) =>
      spans.start("llm", name ?? classOf(model), id, parent),
    handleLLMStart: (model, _prompts, id, parent, _extra, _tags, _metadata, name) =>
      spans.start("llm", name ?? classOf(model), id, parent),
    handleLLMEnd: end,
    handleLLMError: fail,
    handleToolStart: (tool, _input, id, parent, _tags, _metadata, name) =>
      spans.start("tool", name ?? classOf(tool), id, parent),
    handleToolEnd: end,
    handleToolError: fail,
  };
}

/** Nodes of LangGraph itself. */
const HIDDEN = "langsmith:hidden";

/** The name of the class, from the serialized form: `{ id: ["langchain", "chat_models", "ChatOpenAI"] }`. */
const classOf = (serialized: unknown): unknown =>
  isRecord(serialized) && Array.isArray(serialized.id) ? serialized.id.at(-1) : undefined;
