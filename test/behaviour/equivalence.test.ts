import { afterAll, beforeAll, describe, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import type { FaultCode } from "../../src/model/index.ts";
import { BINDINGS, type Binding, bindingsOf, expectMeaning, type Method } from "../support/bindings.ts";
import { rpc, until } from "../support/client.ts";
import { type Loose, rpcResult, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** B-V5: the same operation means the same over JSON-RPC, HTTP+JSON and gRPC, in all versions, also when it is refused. */

const talker: AgentDefinition = {
  name: "talker",
  inputModes: ["text/plain"],
  async *run(task, ctx) {
    if (task.text === "ask") return yield ctx.ask("Which one?");
    if (task.text === "reply") return yield ctx.reply("just a word");
    if (task.text === "fail") return yield ctx.fail("I cannot");
    if (task.text === "wait") {
      yield ctx.status("waiting");
      await new Promise(resolve => ctx.signal.addEventListener("abort", resolve));
      return;
    }
    yield ctx.text("one ");
    yield ctx.text("two");
  },
};
const mute: AgentDefinition = { ...talker, name: "mute", streaming: false };
const choosy: AgentDefinition = {
  ...talker,
  name: "choosy",
  extensions: [{ uri: "https://example.org/must", required: true }],
};

const strict: AgentDefinition = { ...talker, name: "strict", turns: "reject" };

const folder = tempFolder();
let server: TestServer;
const open: Binding[] = [];
beforeAll(async () => {
  server = await serve([talker, mute, choosy, strict], { data: folder.path, v11: "on" });
});
afterAll(async () => {
  for (const binding of open) binding.close();
  await server.stop();
  folder.remove();
});

let count = 0;
const sendParams = (text: string, more: object = {}, configuration?: object): Loose => ({
  message: { messageId: `m${++count}`, role: "ROLE_USER", parts: [{ text }], ...more },
  ...(configuration && { configuration }),
});

/** A non-blocking send over v1; a repeated one may be refused. */
const sendOver = (agent: string, text: string, headers: Record<string, string>, more: object = {}) =>
  rpc(
    `${server.url}/agents/${agent}`,
    "SendMessage",
    {
      message: { messageId: "once", role: "ROLE_USER", parts: [{ text }], ...more },
      configuration: { returnImmediately: true },
    },
    headers,
  );

/** A task in this state, created over v1 before the binding is called. */
async function given(text: "wait" | "ask" | "talk"): Promise<string> {
  const url = `${server.url}/agents/talker`;
  const params = { ...V1.sendParams(text), configuration: { returnImmediately: text === "wait" } };
  const { id } = (await rpcResult(url, "SendMessage", params)).task;
  if (text === "wait")
    await until(async () => (await rpcResult(url, "GetTask", { id })).status.message !== undefined);
  return id;
}

interface Scenario {
  readonly what: string;
  readonly agent?: string;
  readonly method: Method;
  readonly given?: "wait" | "ask" | "talk";
  readonly headers?: Record<string, string>;
  params(taskId: string): Loose;
  /** The meaning of the response, or the fault. */
  readonly means: readonly string[] | FaultCode;
  /** v0.3 has another meaning here, by its own rules. */
  readonly older?: readonly string[] | FaultCode;
  /** Calls over v1 before. */
  before?(): Promise<unknown>;
  /** Calls over v1 during the call of the binding. */
  meanwhile?(taskId: string): Promise<unknown>;
  /** v0.3 has no version negotiation. */
  readonly newest?: true;
}

const WHOLE = 'task completed ["one two"] (talk)';
const unknownTask = "00000000-0000-7000-8000-000000000000";

const SCENARIOS: readonly Scenario[] = [
  { what: "a send", method: "SendMessage", params: () => sendParams("talk"), means: [WHOLE] },
  {
    what: "a send without history",
    method: "SendMessage",
    params: () => sendParams("talk", {}, { historyLength: 1 }),
    means: [WHOLE],
  },
  {
    what: "a send that is answered with a message",
    method: "SendMessage",
    params: () => sendParams("reply"),
    means: ['message "just a word"'],
  },
  {
    what: "a send whose task fails",
    method: "SendMessage",
    params: () => sendParams("fail"),
    means: ['task failed "I cannot" [] (fail)'],
  },
  {
    what: "a send whose task asks",
    method: "SendMessage",
    params: () => sendParams("ask"),
    means: ['task input-required "Which one?" [] (ask)'],
  },
  {
    what: "the answer to a question",
    method: "SendMessage",
    given: "ask",
    params: taskId => sendParams("talk", { taskId }),
    means: ['task completed ["one two"] (ask, Which one?, talk)'],
  },
  {
    what: "a stream",
    method: "SendStreamingMessage",
    params: () => sendParams("talk"),
    means: [
      "task submitted [] (talk)",
      "status working",
      'artifact "one "',
      'artifact +"two"',
      "status completed",
    ],
  },
  {
    what: "a stream of one message",
    method: "SendStreamingMessage",
    params: () => sendParams("reply"),
    means: ['message "just a word"'],
  },
  { what: "get", method: "GetTask", given: "talk", params: id => ({ id }), means: [WHOLE] },
  {
    what: "cancel",
    method: "CancelTask",
    given: "wait",
    params: id => ({ id }),
    means: ["task canceled [] (wait, waiting)"],
  },
  {
    what: "a subscription to a running task",
    method: "SubscribeToTask",
    given: "wait",
    params: id => ({ id }),
    meanwhile: async id => {
      // The reader is connected first.
      const metrics = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text();
      await until(async () => /^dragoman_streams_open [1-9]/m.test(await metrics()));
      await rpcResult(`${server.url}/agents/talker`, "CancelTask", { id });
    },
    means: ['task working "waiting" [] (wait)', "status canceled"],
  },
  {
    what: "a key of another call",
    method: "SendMessage",
    headers: { "idempotency-key": "taken" },
    before: () => sendOver("talker", "talk", { "idempotency-key": "taken" }),
    params: () => sendParams("something else"),
    means: "key-reused",
  },
  {
    what: "a context with a running task",
    agent: "strict",
    method: "SendMessage",
    before: () => sendOver("strict", "wait", {}, { contextId: "busy" }),
    params: () => sendParams("talk", { contextId: "busy" }),
    means: "busy",
  },
  {
    what: "an unsupported version",
    method: "GetTask",
    headers: { "a2a-version": "9.9" },
    params: () => ({ id: unknownTask }),
    means: "version-not-supported",
    newest: true,
  },
  {
    what: "an unknown task (get)",
    method: "GetTask",
    params: () => ({ id: unknownTask }),
    means: "task-not-found",
  },
  {
    what: "an unknown task (cancel)",
    method: "CancelTask",
    params: () => ({ id: unknownTask }),
    means: "task-not-found",
  },
  {
    what: "an unknown task (subscribe)",
    method: "SubscribeToTask",
    params: () => ({ id: unknownTask }),
    means: "task-not-found",
  },
  {
    what: "an unknown task (send)",
    method: "SendMessage",
    params: () => sendParams("talk", { taskId: unknownTask }),
    means: "task-not-found",
  },
  {
    what: "a message to a task that has ended",
    method: "SendMessage",
    given: "talk",
    params: taskId => sendParams("more", { taskId }),
    means: "unsupported-operation",
  },
  {
    what: "a message to a running task",
    method: "SendStreamingMessage",
    given: "wait",
    params: taskId => sendParams("more", { taskId }),
    means: "unsupported-operation",
  },
  {
    what: "cancel of a task that has ended",
    method: "CancelTask",
    given: "talk",
    params: id => ({ id }),
    means: "task-not-cancelable",
  },
  {
    what: "a subscription to a task that has ended",
    method: "SubscribeToTask",
    given: "talk",
    params: id => ({ id }),
    means: "unsupported-operation",
    older: [WHOLE],
  },
  {
    what: "a message without parts",
    method: "SendMessage",
    params: () => sendParams("x", { parts: [] }),
    means: "invalid-params",
  },
  {
    what: "a message without an id",
    method: "SendMessage",
    params: () => sendParams("x", { messageId: "" }),
    means: "invalid-params",
  },
  {
    what: "a message in an unknown role",
    method: "SendMessage",
    params: () => sendParams("x", { role: "ROLE_SYSTEM" }),
    means: "invalid-params",
  },
  {
    what: "a context that is not the task's",
    method: "SendMessage",
    given: "ask",
    params: taskId => sendParams("x", { taskId, contextId: "another" }),
    means: "invalid-params",
  },
  {
    what: "content that the agent does not accept",
    method: "SendMessage",
    params: () => sendParams("x", { parts: [{ url: "https://example.org/a.png", mediaType: "image/png" }] }),
    means: "content-type-not-supported",
  },
  {
    what: "a stream of an agent that does not stream",
    agent: "mute",
    method: "SendStreamingMessage",
    params: () => sendParams("talk"),
    means: "unsupported-operation",
  },
  {
    what: "an agent that requires an extension",
    agent: "choosy",
    method: "SendMessage",
    params: () => sendParams("talk"),
    means: "extension-required",
  },
  {
    what: "the same with the extension",
    agent: "choosy",
    method: "SendMessage",
    headers: { "a2a-extensions": "https://example.org/must" },
    params: () => sendParams("talk"),
    means: [WHOLE],
  },
  {
    what: "the extended card",
    method: "GetExtendedAgentCard",
    params: () => ({}),
    means: "unsupported-operation",
  },
  {
    what: "an unknown agent",
    agent: "nobody",
    method: "GetTask",
    params: () => ({ id: unknownTask }),
    means: "agent-not-found",
  },
];

describe.each(BINDINGS)("B-V5: %s", name => {
  const scenarios = SCENARIOS.filter(({ newest }) => !newest || !name.startsWith("0.3"));
  it.each(scenarios.map(scenario => [scenario.what, scenario] as const))("%s", async (_what, scenario) => {
    const binding = bindingsOf(server.url, scenario.agent ?? "talker").find(one => one.name === name);
    open.push(binding as Binding);
    const taskId = scenario.given ? await given(scenario.given) : "";
    await scenario.before?.();
    const [meaning] = await Promise.all([
      (binding as Binding).call(scenario.method, scenario.params(taskId), scenario.headers),
      scenario.meanwhile?.(taskId),
    ]);
    const older = (binding as Binding).version === "0.3" ? scenario.older : undefined;
    expectMeaning(meaning, older ?? scenario.means);
    if (scenario.given === "wait" && scenario.method !== "CancelTask" && !scenario.meanwhile)
      await rpcResult(`${server.url}/agents/talker`, "CancelTask", { id: taskId });
  });

  it("a list", async () => {
    const [contextId, other] = [`c-${name}`, `d-${name}`];
    const url = `${server.url}/agents/talker`;
    for (const id of [contextId, contextId, other])
      await rpcResult(url, "SendMessage", V1.sendParams("talk", { contextId: id }));
    const binding = bindingsOf(server.url, "talker").find(one => one.name === name) as Binding;
    open.push(binding);
    const meaning = await binding.call("ListTasks", { contextId, pageSize: 1 });
    // The v0.3 definition has no list; where it has one, artifacts are always included.
    const artifacts = binding.version !== "0.3" ? "" : '"one two"';
    const page = [`page of 1 of 2: task completed [${artifacts}] (talk)`];
    expectMeaning(meaning, name === "0.3 gRPC" ? "method-not-found" : page);
  });
});
