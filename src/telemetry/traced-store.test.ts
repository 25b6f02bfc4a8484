import { ROOT_CONTEXT, type Span, trace } from "@opentelemetry/api";
import { expect, test } from "vitest";
import type { Store } from "../ports/index.ts";
import { tracedStore } from "./traced-store.ts";
import type { Tracing } from "./tracing.ts";

const TRACE = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };

test.each([
  ["a slow append has a span, in the trace of its message", 100, ["log append"]],
  ["a fast one has none", 99, []],
])("%s", async (_, ms, expected) => {
  let now = 0;
  const names: string[] = [];
  const parents: unknown[] = [];
  const tracing = {
    wallTime: () => 5,
    ticks: () => now,
    tracer: {
      startSpan: (name: string, _options: unknown, parent = ROOT_CONTEXT) => {
        names.push(name);
        parents.push(trace.getSpanContext(parent)?.spanId);
        return { end() {} } as Span;
      },
    },
  } as unknown as Tracing;
  const append = async () => void (now += ms);
  const store = tracedStore({ log: { append } } as unknown as Store, tracing);
  const message = { messageId: "m", contextId: "c", role: "user", parts: [] };
  const events = [{ type: "message", message, trace: TRACE }];
  await store.log.append({} as never, "t" as never, events as never, {} as never);
  expect(names).toEqual(expected);
  expect(parents).toEqual(expected.map(() => "00f067aa0ba902b7"));
});
