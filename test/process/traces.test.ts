import { existsSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { endChildren, startChild, writeAgent } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import { type Collector, startCollector, treeOf } from "../support/collector.ts";
import { graphHead, writeGraph } from "../support/graphs.ts";
import type { ReceivedSpan } from "../support/otlp.ts";
import { tempFolder } from "../support/server.ts";
import { taskOf } from "../support/wire.ts";

let collector: Collector;
let folder: ReturnType<typeof tempFolder>;

beforeEach(async () => {
  collector = await startCollector();
  folder = tempFolder();
});
afterEach(async () => {
  await endChildren();
  await collector.close();
  folder.remove();
});

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

/** Calls another agent, in the same conversation, as docs/dialects/langgraph.md L19 describes it. */
const asks = (url: string): string => `
    const text = await ctx.step("prepare", () => task.text.toUpperCase());
    const message = { role: "user", kind: "message", messageId: "m2", contextId: task.contextId, parts: [{ kind: "text", text }] };
    const reply = await ctx.outbound.trusted("${url}", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        jsonrpc: "2.0", id: 1, method: "message/send", params: { message }, metadata: { thread_id: task.thread },
      }),
    });
    const { result } = await reply.json();
    ctx.usage({ inputTokens: 12, outputTokens: 3, calls: 1 });
    yield result.artifacts[0].parts[0].text;`;

const start = (name: string, body: string, env: Record<string, string>) =>
  startChild({
    agents: [writeAgent(folder.path, name, body)],
    data: `${folder.path}/${name}`,
    env: { OTEL_SERVICE_NAME: name, OTEL_BSP_SCHEDULE_DELAY: "50", ...env },
  });

const of = (service: string, name: string): ReceivedSpan =>
  collector.spans.find(
    span => span.resource["service.name"] === service && span.name === name,
  ) as ReceivedSpan;

const WIRES = [
  ["JSON", "http/json"],
  ["Protocol Buffers", "http/protobuf"],
] as const;

it.each(WIRES)(
  "a conversation of two agents in two processes is one trace and one thread, sent as %s",
  async (_, protocol) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: protocol };
    const beta = await start("beta", 'yield "beta heard " + task.text;', env);
    const alpha = await start("alpha", asks(`${beta.url}/a2a/beta`), env);
    const reply = await fetch(`${alpha.url}/a2a/alpha`, {
      method: "POST",
      headers: { "Content-Type": "application/json", traceparent: TRACEPARENT, baggage: "tour=7" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "message/send",
        params: { message: { role: "user", messageId: "m1", parts: [{ kind: "text", text: "hello" }] } },
        metadata: { thread_id: "thread-7" },
      }),
    });
    const { result } = (await reply.json()) as { result: { id: string; contextId: string } };
    await Promise.all([alpha.stop(), beta.stop()]);

    expect(new Set(collector.spans.map(span => span.traceId))).toEqual(new Set([TRACE_ID]));
    expect(treeOf(collector.spans)).toEqual([
      "alpha: a2a send",
      "  alpha: invoke_agent alpha",
      "    alpha: POST",
      "      beta: a2a send",
      "        beta: invoke_agent beta",
      "    alpha: step prepare",
    ]);
    expect(of("alpha", "a2a send").parentSpanId).toBe("00f067aa0ba902b7");
    expect(new Set(collector.spans.map(span => span.attributes["langsmith.metadata.thread_id"]))).toEqual(
      new Set(["thread-7"]),
    );
    expect(of("alpha", "a2a send")).toMatchObject({
      kind: 2,
      attributes: {
        "a2a.dialect": "langgraph",
        "a2a.binding": "jsonrpc",
        "a2a.operation": "send",
        "a2a.tenant": "default",
        "a2a.outcome": "completed",
        "a2a.task.id": result.id,
        "a2a.context.id": result.contextId,
        "rpc.method": "message/send",
        "gen_ai.agent.name": "alpha",
      },
    });
    expect(of("alpha", "invoke_agent alpha")).toMatchObject({
      kind: 1,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "alpha",
        "gen_ai.conversation.id": result.contextId,
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
        "dragoman.usage.calls": 1,
        "dragoman.attempt": 1,
        "a2a.outcome": "completed",
      },
      events: ["first word"],
    });
    expect(of("alpha", "POST")).toMatchObject({
      kind: 3,
      attributes: { "http.response.status_code": 200, "url.full": `${beta.url}/a2a/beta` },
    });
    expect(of("beta", "a2a send").attributes["a2a.context.id"]).toBe(result.contextId);
    expect(of("beta", "a2a send").resource["service.version"]).toMatch(/^\d/);
  },
);

it("an agent that calls another one with ctx.call is in the same trace and the same thread", async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const beta = await start("beta", 'yield "beta heard " + task.text;', env);
  const agent = writeAgent(folder.path, "alpha", `yield (await ctx.call("${beta.url}", task.text)).text;`);
  const alpha = await startChild({
    agents: [agent],
    data: `${folder.path}/alpha`,
    flags: ["--call-allow", "127.0.0.1"],
    env: { OTEL_SERVICE_NAME: "alpha", ...env },
  });
  const { body } = await rpc(alpha.url, "SendMessage", sendParams("hello"));
  expect(JSON.stringify(body)).toContain("beta heard hello");
  await Promise.all([alpha.stop(), beta.stop()]);
  const byId = new Map(collector.spans.map(span => [span.spanId, span]));
  const above = (span: ReceivedSpan | undefined): readonly string[] =>
    span ? [`${span.resource["service.name"]}: ${span.name}`, ...above(byId.get(span.parentSpanId))] : [];
  expect(above(of("beta", "invoke_agent beta")).filter(name => !/POST/.test(name))).toEqual([
    "beta: invoke_agent beta",
    expect.stringMatching(/^beta: a2a (send|stream)$/),
    "alpha: invoke_agent alpha",
    "alpha: a2a send",
  ]);
  const runs = collector.spans.filter(span => span.name.startsWith("invoke_agent"));
  expect(new Set(runs.map(span => span.traceId)).size).toBe(1);
  expect(new Set(runs.map(span => span.attributes["langsmith.metadata.thread_id"]))).toEqual(
    new Set([taskOf(body).contextId]),
  );
  const { out } = await runCli("why", taskOf(body).id, "--data", `${folder.path}/alpha`);
  expect(out).toMatch(/turns +1, 1 run, 1 step, 1 call to other agents/);
});

it("a run after a kill is a child of the same call, and has a link to the attempt before it", async () => {
  const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces` };
  const gate = `${folder.path}/open`;
  const body = `
    await ctx.step("first", () => 1);
    const { existsSync, writeFileSync } = await import("node:fs");
    writeFileSync("${folder.path}/here", "");
    while (!existsSync("${gate}")) await sleep(10, undefined, { signal: ctx.signal });
    yield "done";`;
  const first = await start("stayer", body, env);
  const params = { ...sendParams("go"), configuration: { returnImmediately: true } };
  const reply = await rpc(first.url, "SendMessage", params, { traceparent: TRACEPARENT });
  const { id } = taskOf(reply.body);
  await until(() => existsSync(`${folder.path}/here`));
  await until(() => collector.spans.some(span => span.name === "a2a send"));
  await first.kill();
  writeFileSync(gate, "");
  const second = await start("stayer", body, env);
  await until(async () => {
    const { body: got } = await rpc(second.url, "GetTask", { id });
    return taskOf(got).status.state === "TASK_STATE_COMPLETED";
  });
  await second.stop();
  const call = of("stayer", "a2a send");
  const run = of("stayer", "invoke_agent stayer");
  expect(run).toMatchObject({ traceId: TRACE_ID, parentSpanId: call.spanId });
  expect(run.attributes["dragoman.attempt"]).toBe(2);
  expect(run.links).toEqual([{ traceId: TRACE_ID, spanId: expect.stringMatching(/^[0-9a-f]{16}$/) }]);
  expect(run.links[0]?.spanId).not.toBe(run.spanId);
  expect(run.events).toContain("step found on record");
});

it("with a LangSmith key they are sent there, into the project that it names", async () => {
  const env = {
    LANGSMITH_API_KEY: "ls-key",
    LANGSMITH_PROJECT: "my-project",
    LANGSMITH_ENDPOINT: collector.url,
  };
  const server = await start("solo", "yield task.text;", env);
  const { body } = await rpc(server.url, "SendMessage", sendParams("hello"));
  await server.stop();
  expect(collector.exports[0]).toMatchObject({
    path: "/otel/v1/traces",
    headers: { "x-api-key": "ls-key", "langsmith-project": "my-project" },
  });
  const { contextId } = taskOf(body);
  expect(new Set(collector.spans.map(span => span.attributes["langsmith.metadata.thread_id"]))).toEqual(
    new Set([contextId]),
  );
  expect(server.stderr()).not.toContain("ls-key");
});

it("a graph is in the same trace: LangChain's own tracer sends nothing, and no content is sent", async () => {
  const graph = `${graphHead(folder.path)}
const model = new FakeListChatModel({ responses: ["confidential answer"] });
const graph = new StateGraph(MessagesAnnotation)
  .addNode("think", async (state, config) => ({ messages: [await model.invoke(state.messages, config)] }))
  .addEdge(START, "think");
export default langgraph(graph.compile(), { name: "thinker" });
`;
  const server = await startChild({
    agents: [writeGraph(folder.path, "thinker.ts", graph)],
    data: `${folder.path}/thinker`,
    env: {
      ...{ OTEL_SERVICE_NAME: "thinker", OTEL_BSP_SCHEDULE_DELAY: "50", LANGSMITH_TRACING: "true" },
      ...{ LANGSMITH_API_KEY: "ls-key", LANGSMITH_ENDPOINT: collector.url },
    },
  });
  const { body } = await rpc(server.url, "SendMessage", sendParams("confidential question"));
  expect(taskOf(body).status.state).toBe("TASK_STATE_COMPLETED");
  await server.stop();
  expect(new Set(collector.exports.map(({ path }) => path))).toEqual(new Set(["/otel/v1/traces"]));
  expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(JSON.stringify(collector.spans)).not.toContain("confidential");
  const tree = treeOf(collector.spans);
  expect(tree.slice(0, 3)).toEqual([
    "thinker: a2a send",
    "  thinker: invoke_agent thinker",
    "    thinker: LangGraph",
  ]);
  expect(tree).toEqual(
    expect.arrayContaining(["      thinker: think", "        thinker: FakeListChatModel"]),
  );
});

/** As if they had not been installed. */
const WITHOUT_SDK = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.startsWith("@opentelemetry/sdk-trace")) return next(specifier, context);
      throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    },
  });`)}`;

it("a server whose tracing packages are missing logs how to install them, and serves", async () => {
  const server = await start("solo", "yield task.text;", {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    NODE_OPTIONS: `--import=${WITHOUT_SDK}`,
  });
  expect((await rpc(server.url, "SendMessage", sendParams("hello"))).status).toBe(200);
  await server.stop();
  expect(server.stderr()).toContain("npm install @opentelemetry/sdk-trace@3");
  expect(collector.spans).toEqual([]);
});

it("an unreachable collector costs a log line, and nothing else", async () => {
  const server = await start("solo", "yield task.text;", {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
    OTEL_EXPORTER_OTLP_TIMEOUT: "200",
    OTEL_TRACES_SAMPLER: "sometimes",
  });
  expect(server.stderr()).toContain("OTEL_TRACES_SAMPLER=sometimes: expected one of always_on");
  expect((await rpc(server.url, "SendMessage", sendParams("hello"))).status).toBe(200);
  expect((await server.stop()).code).toBe(0);
});
