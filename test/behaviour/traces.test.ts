import { context, propagation, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { openStream, rpc, sendParams } from "../support/client.ts";
import { type Collector, startCollector, treeOf } from "../support/collector.ts";
import { createGrpcClient } from "../support/grpc.ts";
import { serve, type TestServer } from "../support/server.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

let collector: Collector;
let server: TestServer | undefined;
beforeEach(async () => {
  collector = await startCollector();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await collector.close();
});

const AGENTS: readonly AgentDefinition[] = [
  {
    name: "echo",
    async *run(task, ctx) {
      yield "you said ";
      yield `${task.text} in ${ctx.trace?.traceparent} with ${ctx.trace?.baggage}`;
    },
  },
  {
    name: "breaker",
    run: () => {
      throw new Error("the token=abcdef123456 was refused");
    },
  },
  {
    name: "inside",
    async run(_task, ctx) {
      // Like a library with its own instrumentation.
      const span = trace.getTracer("library").startSpan("model call");
      span.end();
      await ctx.step("again", () => 1).catch(() => {});
      return "done";
    },
  },
];

const open = async (more: { readonly traceContent?: boolean; readonly ratio?: number } = {}) => {
  server = await serve(AGENTS, {
    traceContent: more.traceContent ?? false,
    otel: {
      url: `${collector.url}/v1/traces`,
      headers: {},
      protocol: "http/json",
      resource: { "service.name": "d" },
      sampler: { kind: "ratio", ratio: more.ratio ?? 1, parentBased: true },
      delayMs: 10,
      problems: [],
    },
  });
  return server;
};

const stop = async (): Promise<void> => {
  await server?.stop();
  server = undefined;
};

const spanOf = (name: string) => collector.spans.find(span => span.name === name);

describe("traces", () => {
  it("a stream is a span to its end, and the agent gets the trace context of its run", async () => {
    const { url } = await open();
    const stream = await openStream(url, "SendStreamingMessage", sendParams("hi"), {
      traceparent: TRACEPARENT,
      baggage: "a=1",
    });
    const text = JSON.stringify((await stream.all()).map(event => event.data));
    await stop();
    expect(treeOf(collector.spans)).toEqual(["d: a2a stream", "  d: invoke_agent echo"]);
    const run = spanOf("invoke_agent echo");
    expect(run?.traceId).toBe(TRACE_ID);
    expect(text).toContain(`in 00-${TRACE_ID}-${run?.spanId}-01 with a=1`);
    expect(spanOf("a2a stream")?.events).toEqual(["first event"]);
  });

  it("the trace context is also read from gRPC metadata", async () => {
    const { url } = await open();
    const client = createGrpcClient(new URL(url).host);
    await client.ask("SendMessage", sendParams("hi"), { traceparent: TRACEPARENT });
    client.close();
    await stop();
    expect(spanOf("a2a send")).toMatchObject({
      traceId: TRACE_ID,
      parentSpanId: "b7ad6b7169203331",
      attributes: { "a2a.binding": "grpc" },
    });
  });

  it("a call without a trace context starts a trace; unsampled calls are not recorded", async () => {
    const { url } = await open({ ratio: 0 });
    const { body } = await rpc(url, "SendMessage", sendParams("hi"));
    // It is propagated all the same, so that no other service records it.
    expect(JSON.stringify(body)).toMatch(/in 00-[0-9a-f]{32}-[0-9a-f]{16}-00 with/);
    await rpc(url, "SendMessage", sendParams("hi"), { traceparent: TRACEPARENT.replace(/1$/, "0") });
    await rpc(url, "SendMessage", sendParams("hi"), { traceparent: "nonsense" });
    await stop();
    expect(collector.spans).toEqual([]);
  });

  it("a refused call has its fault; only an internal error has the error status", async () => {
    const { url } = await open();
    await rpc(url, "GetTask", { id: "nowhere" });
    await rpc(url, "NoSuchMethod", {});
    await stop();
    expect(collector.spans.map(span => [span.name, span.attributes["error.type"], span.status])).toEqual([
      ["a2a get", "task-not-found", 0],
      ["a2a", "method-not-found", 0],
    ]);
  });

  it("an agent that throws is an error with its message, without secrets", async () => {
    const { url } = await open();
    await rpc(`${url}/agents/breaker`, "SendMessage", sendParams("hi"));
    await stop();
    expect(spanOf("invoke_agent breaker")).toMatchObject({
      status: 2,
      events: ["exception"],
      attributes: { "a2a.outcome": "failed" },
    });
    expect(JSON.stringify(collector.spans)).not.toContain("abcdef123456");
  });

  it("spans of libraries that an agent uses are below its run", async () => {
    const { url } = await open();
    await rpc(`${url}/agents/inside`, "SendMessage", sendParams("hi"));
    await stop();
    expect(treeOf(collector.spans)).toEqual([
      "d: a2a send",
      "  d: invoke_agent inside",
      "    d: model call",
      "    d: step again",
    ]);
  });

  it("message content is in spans only if enabled", async () => {
    const { url } = await open();
    await rpc(url, "SendMessage", sendParams("a secret wish"));
    await stop();
    expect(JSON.stringify(collector.spans)).not.toContain("a secret wish");
    const { url: open2 } = await open({ traceContent: true });
    await rpc(open2, "SendMessage", sendParams("a known wish"));
    await stop();
    const run = collector.spans.findLast(span => span.name === "invoke_agent echo");
    expect(run?.attributes["gen_ai.prompt"]).toBe("a known wish");
    expect(JSON.parse(run?.attributes["gen_ai.input.messages"] as string)).toEqual([
      { role: "user", parts: [{ type: "text", content: "a known wish" }] },
    ]);
    expect(run?.attributes["gen_ai.completion"]).toMatch(/^you said a known wish/);
  });

  it("a program with its own SDK gets the spans, and keeps its SDK", async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    trace.setGlobalTracerProvider(provider);
    try {
      server = await serve(AGENTS);
      await rpc(server.url, "SendMessage", sendParams("hi"));
      await stop();
      const names = exporter.getFinishedSpans().map(span => span.name);
      expect(names).toEqual(expect.arrayContaining(["a2a send", "invoke_agent echo"]));
      expect(trace.getTracerProvider()).toHaveProperty("getTracer");
    } finally {
      await provider.shutdown();
      trace.disable();
      context.disable();
      propagation.disable();
    }
  });

  it("a server without tracing propagates the trace context of its callers unchanged", async () => {
    server = await serve(AGENTS);
    const { body } = await rpc(server.url, "SendMessage", sendParams("hi"), {
      traceparent: TRACEPARENT,
      baggage: "a=1",
    });
    expect(JSON.stringify(body)).toContain(`in ${TRACEPARENT} with a=1`);
  });
});
