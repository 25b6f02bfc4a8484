import type { Attributes } from "@opentelemetry/api";
import type { TaskEvent, Trace } from "../model/index.ts";
import type { AppendCondition, Store } from "../ports/index.ts";
import { ATTRIBUTES, aboutContext, toParent } from "./spans.ts";
import type { Tracing } from "./tracing.ts";

/** Other appends get no span: there is one per chunk, and the spans of call and run show how long theirs took. */
const SLOW_MS = 100;

interface ObservedAppend {
  readonly taskId: string;
  readonly events: readonly TaskEvent[];
  readonly expected: AppendCondition;
}

/** Appends that resolve together. */
interface ObservedCommit {
  readonly done: Promise<void>;
  /** Until it has resolved. */
  readonly appends: ObservedAppend[];
}

/** A span per slow append; the time includes the commit. */
export function tracedStore(store: Store, tracing: Tracing): Store {
  let latest: ObservedCommit | undefined;

  function observe(done: Promise<void>): ObservedCommit {
    const commit: ObservedCommit = { done, appends: [] };
    const at = tracing.wallTime();
    const began = tracing.ticks();
    done.then(
      () => {
        if (tracing.ticks() - began >= SLOW_MS) for (const append of commit.appends) record(append, at);
        commit.appends.length = 0;
      },
      () => void (commit.appends.length = 0),
    );
    return commit;
  }

  function record({ taskId, events, expected }: ObservedAppend, at: number): void {
    const found = findContext(events, expected);
    if (!found) return;
    const attributes = { ...found.facts, [ATTRIBUTES.task]: taskId, [ATTRIBUTES.events]: events.length };
    tracing.tracer.startSpan("log append", { startTime: at, attributes }, toParent(found.trace)).end();
  }

  return {
    ...store,
    log: {
      ...store.log,
      append(scope, taskId, events, expected, beside) {
        const done = store.log.append(scope, taskId, events, expected, beside);
        if (latest?.done !== done) latest = observe(done);
        latest.appends.push({ taskId, events, expected });
        return done;
      },
    },
  };
}

interface TraceContext {
  readonly trace: Trace;
  readonly facts: Attributes;
}

/** The trace context of an append. */
function findContext(events: readonly TaskEvent[], expected: AppendCondition): TraceContext | undefined {
  if ("run" in expected) {
    const { trace, contextId, thread } = expected.run.task;
    return trace && { trace, facts: aboutContext(contextId, thread) };
  }
  const last = events.at(-1);
  if (last?.type !== "message" && last?.type !== "answered" && last?.type !== "incoming") return undefined;
  const { trace, thread, message } = last;
  return trace && { trace, facts: aboutContext(message.contextId ?? "", thread) };
}
