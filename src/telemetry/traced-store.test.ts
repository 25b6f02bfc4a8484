import { ROOT_CONTEXT, type Span, trace } from "@opentelemetry/api";
import { expect, test } from "vitest";
import type { Store } from "../ports/index.ts";
import { tracedStore } from "./traced-store.ts";
import type { Tracing } from "./tracing.ts";

const TRACE = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };

test.each([
  ["slow appends have a span each, in the trace of their message, also if they resolve together", 100],
  ["fast ones have none", 99],
])("%s", async (_, ms) => {
  const expected = ms < 100 ? [] : ["log append", "log append"];
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
  const commit = Promise.resolve().then(() => void (now += ms));
  const append = () => commit;
  const store = tracedStore({ log: { append } } as unknown as Store, tracing);
  const message = { messageId: "m", contextId: "c", role: "user", parts: [] };
  const events = [{ type: "message", message, trace: TRACE }];
  const appends = ["t", "u"].map(id =>
    store.log.append({} as never, id as never, events as never, {} as never),
  );
  await Promise.all(appends);
  expect(names).toEqual(expected);
  expect(parents).toEqual(expected.map(() => "00f067aa0ba902b7"));
});
