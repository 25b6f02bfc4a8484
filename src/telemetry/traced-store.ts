import type { Attributes } from "@opentelemetry/api";
import type { TaskEvent, Trace } from "../model/index.ts";
import type { AppendCondition, Store } from "../ports/index.ts";
import { ATTRIBUTES, aboutContext, toParent } from "./spans.ts";
import type { Tracing } from "./tracing.ts";

/** Other appends get no span: there is one per chunk, and the spans of call and run show how long theirs took. */
const SLOW_MS = 100;

/** A span per slow append; the time includes the commit. */
export function tracedStore(store: Store, tracing: Tracing): Store {
  function tell(at: number, place: TraceContext, taskId: string, events: readonly TaskEvent[]): void {
    const attributes = { ...place.facts, [ATTRIBUTES.task]: taskId, [ATTRIBUTES.events]: events.length };
    tracing.tracer.startSpan("log append", { startTime: at, attributes }, toParent(place.trace)).end();
  }

  return {
    ...store,
    log: {
      ...store.log,
      append(scope, taskId, events, expected, beside) {
        const place = placeOf(events, expected);
        if (!place) return store.log.append(scope, taskId, events, expected, beside);
        const at = tracing.wallTime();
        const began = tracing.ticks();
        const done = store.log.append(scope, taskId, events, expected, beside);
        done.then(
          () => {
            if (tracing.ticks() - began >= SLOW_MS) tell(at, place, taskId, events);
          },
          () => {},
        );
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
function placeOf(events: readonly TaskEvent[], expected: AppendCondition): TraceContext | undefined {
  if ("run" in expected) {
    const { trace, contextId, thread } = expected.run.task;
    return trace && { trace, facts: aboutContext(contextId, thread) };
  }
  const last = events.at(-1);
  if (last?.type !== "message" && last?.type !== "answered" && last?.type !== "incoming") return undefined;
  const { trace, thread, message } = last;
  return trace && { trace, facts: aboutContext(message.contextId ?? "", thread) };
}
