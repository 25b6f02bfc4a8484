/** The tracer: of the SDK of the host program, or of an SDK that the environment variables configure. */
import {
  type Attributes,
  type Context,
  context,
  type Span,
  type SpanOptions,
  trace as spans,
  type Tracer,
  type TracerProvider,
} from "@opentelemetry/api";
import type { Trace } from "../model/index.ts";
import type { Log } from "../ports/index.ts";
import { loadProvider, type OtelParts, type Provider } from "./otel.ts";
import { isSdkThere } from "./otel-registered.ts";
import { toSpanContext } from "./spans.ts";

export interface Tracing {
  readonly tracer: Tracer;
  /** Whether spans contain message text. */
  readonly content: boolean;
  /** The wall clock, for spans. */
  wallTime(): number;
  /** Milliseconds for durations. */
  ticks(): number;
  /** `id`: see `idOfRun`. */
  startSpan(name: string, options: SpanOptions, parent: Context, id: string | undefined): Span;
  /** The span id of a run, which follows from its task; undefined: the SDK of the host program chooses ids. */
  idOfRun(taskId: string, attempt: number): string | undefined;
  /** Attributes of all spans below a run. */
  keepFacts(run: Span, facts: Attributes): void;
  dropFacts(run: Span): void;
  factsOf(trace: Trace | undefined): Attributes | undefined;
  close(): Promise<void>;
}

export interface TracingParts {
  /** undefined: only the SDK of the host program is used. */
  readonly otel: OtelParts | undefined;
  readonly version: string;
  readonly content: boolean;
  readonly wallTime: () => number;
  readonly ticks: () => number;
  readonly log: Log;
}

/** A shutdown waits this long for the last spans. */
const FLUSH_MS = 3_000;

/** undefined: tracing is off. */
export async function openTracing(parts: TracingParts): Promise<Tracing | undefined> {
  const isThere = isSdkThere();
  const own = isThere || !parts.otel ? undefined : await loadProvider(parts.otel, parts);
  if (!isThere && !own) return undefined;
  const provider: TracerProvider = own?.provider ?? spans.getTracerProvider();
  const tracer = provider.getTracer("dragoman", parts.version);
  const unregister = own ? register(own) : () => {};
  const runs = new Map<string, Attributes>();
  return {
    tracer,
    content: parts.content,
    wallTime: parts.wallTime,
    ticks: parts.ticks,
    startSpan: (name, options, parent, id) =>
      own
        ? own.ids.next(id, () => tracer.startSpan(name, options, parent))
        : tracer.startSpan(name, options, parent),
    idOfRun: (taskId, attempt) => (own ? toSpanId(taskId, attempt) : undefined),
    keepFacts: (run, facts) => void runs.set(run.spanContext().spanId, facts),
    dropFacts: run => void runs.delete(run.spanContext().spanId),
    factsOf: trace => runs.get((trace && toSpanContext(trace)?.spanId) ?? ""),
    async close() {
      unregister();
      await own?.close(FLUSH_MS);
    },
  };
}

/** Registers the SDK globally, for libraries that agents use; the returned function unregisters it. */
function register({ provider, contexts }: Provider): () => void {
  const isOurs = spans.setGlobalTracerProvider(provider);
  const hasContexts = context.setGlobalContextManager(contexts);
  return () => {
    if (isOurs) spans.disable();
    if (hasContexts) context.disable();
  };
}

/** The random half of the task's UUID, and the attempt in its last digits. */
function toSpanId(taskId: string, attempt: number): string {
  const last = Number.parseInt(taskId.slice(-4), 16) ^ (attempt & 0xffff);
  return taskId.slice(19, 23) + taskId.slice(24, 32) + last.toString(16).padStart(4, "0");
}
