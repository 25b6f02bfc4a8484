import { expect } from "vitest";
import { frames, gives, has, lacks, type Request, refuses } from "./checks.ts";
import { call, fetchBare, type Probe } from "./probe.ts";
import { byDefault, type Elsewhere, type Section, type Statement, type VendorDocument } from "./statement.ts";

/** simple_a2a, "Protocol Details". In `strict` only the default agent is served, at `/`. */

const JSON_TYPE = { "content-type": "application/json" };
const post =
  (body: unknown, agent = "echo", headers: Readonly<Record<string, string>> = {}): Request =>
  probe =>
    probe.post("/", body, headers, agent);
const MESSAGE = { messageId: "msg-1", role: "user", parts: [{ text: "hello", kind: "text" }] };
const named = (method: string, params: object = { message: MESSAGE }, agent?: string): Request =>
  post(call(method, params, { id: "abc-123" }), agent);
const send = (agent?: string, more: object = {}): Request =>
  named("tasks/send", { message: MESSAGE, ...more }, agent);
const stream = (agent?: string): Request => named("tasks/sendSubscribe", { message: MESSAGE }, agent);
const unknown = { id: "01890000-0000-7000-8000-000000000000" };
const elsewhere = (name: string): Elsewhere => ({ file: "test/behaviour/simple.test.ts", name });

/** A method on the task that a send has left. */
const after =
  (method: string, agent = "echo", more: object = {}): Request =>
  async probe =>
    named(method, { id: (await send(agent)(probe)).json.result.id, ...more }, agent)(probe);

const FORMAT: Section = {
  title: "Transport and formats",
  statements: [
    ["JSON-RPC 2.0 over POST to `/`", has(send(), { jsonrpc: "2.0", result: {} })],
    ["the card is `GET /agentCard`", has(probe => probe.get("/agentCard"), { name: "echo" })],
    ["the `id` of the request is returned", has(send(), { id: "abc-123" })],
    ["`tasks/send` with a message of text", gives(send(), { artifacts: [{ parts: [{ text: "hello" }] }] })],
    [
      "a part is `text` with the kind `text`",
      gives(send(), { artifacts: [{ parts: [{ text: "hello", kind: "text" }] }] }),
    ],
    ["the result has an `id` of the server", gives(send(), { id: expect.stringMatching(/./) })],
    ["the result has a `contextId`", gives(send(), { contextId: expect.stringMatching(/./) })],
    ["`status.state` is `completed`", gives(send(), { status: { state: "completed" } })],
    [
      "`status.timestamp` is a time in UTC",
      gives(send(), { status: { timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) } }),
    ],
    ["`artifacts` is an array", gives(send("replier"), { artifacts: [] })],
    ["the result has no `kind`", lacks(send(), "kind")],
  ],
};

async function cancel(probe: Probe) {
  const url = await probe.url("endless");
  const ask = (method: string, params: object = {}) =>
    fetchBare(url, "POST", call(method, params), JSON_TYPE);
  const stopped = stream("endless")(probe);
  let listed = (await ask("tasks/list")).json.result;
  while (listed[0]?.status.state !== "working") listed = (await ask("tasks/list")).json.result;
  const canceled = (await ask("tasks/cancel", { id: listed[0].id })).json.result;
  return {
    canceled,
    again: (await ask("tasks/cancel", { id: canceled.id })).json,
    events: (await stopped).events,
  };
}
const config = { pushNotificationConfig: { webhookUrl: "https://hooks.example/" } };
/** A config that is set, read, listed and removed. */
async function push(probe: Probe) {
  const [url, { id }] = [await probe.url(), (await send()(probe)).json.result];
  const ask = async (verb: string, more: object = {}) =>
    (await fetchBare(url, "POST", call(`tasks/pushNotification/${verb}`, { id, ...more }), JSON_TYPE)).json
      .result;
  const set = await ask("set", config);
  return {
    id,
    set,
    got: await ask("get"),
    listed: await ask("list"),
    deleted: await ask("delete"),
    left: await ask("get"),
  };
}
const METHODS: Section = {
  title: "Methods",
  statements: [
    ["`tasks/send` waits and returns the completed task", gives(send(), { status: { state: "completed" } })],
    ["`tasks/sendSubscribe` streams events", frames(stream(), all => expect(all.length).toBeGreaterThan(2))],
    [
      "`tasks/get` returns a task by its id",
      async probe =>
        expect((await after("tasks/get")(probe)).json.result).toEqual((await send()(probe)).json.result),
    ],
    [
      "`tasks/list` lists all tasks",
      async probe => {
        const { id } = (await send()(probe)).json.result;
        expect(
          (await named("tasks/list", {})(probe)).json.result.map((task: { id: string }) => task.id),
        ).toContain(id);
      },
    ],
    [
      "`tasks/cancel` cancels a task that has not ended",
      async probe => expect((await probe.share(cancel)).canceled.status.state).toBe("canceled"),
    ],
    [
      "`tasks/pushNotification/set` registers an endpoint",
      async probe => {
        const { id, set } = await probe.share(push);
        expect(set).toEqual({ id, ...config });
      },
    ],
    ["deliveries reach it", { file: "test/behaviour/push-dialects.test.ts", name: 'dialect: "simple"' }],
    [
      "`tasks/pushNotification/get` returns the config",
      async probe => expect((await probe.share(push)).got).toMatchObject(config),
    ],
    [
      "`tasks/pushNotification/list` lists configs",
      async probe => expect((await probe.share(push)).listed).toMatchObject([config]),
    ],
    [
      "`tasks/pushNotification/delete` removes it",
      async probe => {
        const { deleted, left } = await probe.share(push);
        expect([deleted, left]).toEqual([null, null]);
      },
    ],
  ],
};

const ERRORS: Section = {
  title: "Error codes",
  statements: [
    ["-32700: invalid JSON", refuses(post("{"), -32700)],
    ["-32600: no JSON-RPC 2.0 object", refuses(post({ jsonrpc: "1.0", id: 1, method: "tasks/get" }), -32600)],
    ["-32601: an unknown method", refuses(named("tasks/sing", {}), -32601)],
    ["-32602: a parameter is missing", refuses(named("tasks/send", {}), -32602)],
    [
      "-32602: a parameter is invalid",
      refuses(named("tasks/send", { message: { ...MESSAGE, parts: "hello" } }), -32602),
    ],
    ["-32603: a fault of the server", { file: "test/corpus/simple/faults.exchange", name: '"code":-32603' }],
    ["-32001: no task with this id", refuses(named("tasks/get", unknown), -32001)],
    ["-32001 for `tasks/cancel`, too", refuses(named("tasks/cancel", unknown), -32001)],
    ["-32002: the task has ended", refuses(after("tasks/cancel"), -32002)],
    [
      "-32003: an agent without push",
      refuses(after("tasks/pushNotification/set", "discreet", config), -32003),
    ],
    ["-32004: a stream of an agent that does not stream", refuses(stream("mute"), -32004)],
    [
      "-32005: CONTENT_TYPE_NOT_SUPPORTED",
      refuses(
        named("tasks/send", {
          message: {
            ...MESSAGE,
            parts: [{ kind: "file", url: "https://a.example/", mediaType: "image/png" }],
          },
        }),
        -32005,
      ),
    ],
    ["-32006: INVALID_AGENT_RESPONSE", { file: "test/corpus/simple/faults.exchange", name: '"code":-32006' }],
    ["-32007: EXTENSION_REQUIRED", refuses(send("needy"), -32007)],
    [
      "-32008: another `A2A-Version`",
      refuses(post(call("tasks/get", unknown), "echo", { "a2a-version": "2.0" }), -32008),
    ],
  ],
};

const in_ = (value: string, method = "tasks/send"): Request =>
  post(call(method, method === "tasks/send" ? { message: MESSAGE } : {}), "echo", { "a2a-version": value });
const VERSIONS: Section = {
  title: "Version negotiation",
  statements: [
    ["the header is optional", gives(send(), { status: { state: "completed" } })],
    ["1.0 is accepted", gives(in_("1.0"), { status: { state: "completed" } })],
    ["0.3 is accepted", gives(in_("0.3"), { status: { state: "completed" } })],
    ["the shapes are the same with 0.3", lacks(in_("0.3"), "kind")],
    [
      "the list is the same with 0.3",
      async probe => expect((await in_("0.3", "tasks/list")(probe)).json.result).toBeInstanceOf(Array),
    ],
    ["any other value is VERSION_NOT_SUPPORTED", refuses(in_("0.2"), -32008)],
    [
      "also with a method that the document does not have",
      refuses(in_("2.0", "message/send"), -32008),
      byDefault("the official dialects share the path `/`: v1 refuses it (-32009)"),
    ],
  ],
};

/** A task that waits, and the message that resumes it. */
const resumed =
  (agent: string): Request =>
  async probe =>
    send(agent, { id: (await send(agent)(probe)).json.result.id })(probe);
const LIFECYCLE: Section = {
  title: "Task lifecycle",
  statements: [
    [
      "`submitted` comes first",
      frames(stream(), all => expect(all[0].result.status.state).toBe("submitted")),
    ],
    ["then `working`", frames(stream(), all => expect(all[1].result.status.state).toBe("working"))],
    ...Object.entries({
      echo: "completed",
      failing: "failed",
      rejecting: "rejected",
      asker: "input_required",
      locked: "auth_required",
    }).map(
      ([agent, state]): Statement => [
        `\`working\` leads to \`${state}\``,
        gives(send(agent), { status: { state } }),
      ],
    ),
    [
      "`working` leads to `canceled`",
      async probe => expect((await probe.share(cancel)).canceled.status.state).toBe("canceled"),
    ],
    ...Object.entries({ echo: "completed", failing: "failed", rejecting: "rejected" }).map(
      ([agent, state]): Statement => [
        `\`${state}\` is terminal: the task cannot be canceled`,
        refuses(after("tasks/cancel", agent), -32002),
      ],
    ),
    [
      "`canceled` is terminal: the task cannot be canceled",
      async probe => expect((await probe.share(cancel)).again.error.code).toBe(-32002),
    ],
    [
      "`input_required` is resumed by a new message",
      gives(resumed("asker"), { status: { state: "completed" } }),
    ],
    [
      "`auth_required` is resumed by a new message",
      async probe => gives(resumed("locked"), { id: (await send("locked")(probe)).json.result.id })(probe),
    ],
  ],
};

const STREAMING: Section = {
  title: "Streaming",
  statements: [
    ["the response is `text/event-stream`", frames(stream(), all => expect(all.length).toBeGreaterThan(2))],
    [
      "the connection stays open until the end",
      frames(stream("words"), all => expect(all.at(-1).result.status.state).toBe("completed")),
    ],
    [
      "frames are lines with `data:`",
      async probe => expect((await stream()(probe)).text).toMatch(/^data: \{"jsonrpc":"2.0"/m),
    ],
    [
      "envelopes have `jsonrpc` and `result`, without an `id`",
      frames(stream(), all =>
        expect(all.map(one => Object.keys(one).join())).toEqual(all.map(() => "jsonrpc,result")),
      ),
    ],
    [
      "`result.type` is `TaskStatusUpdateEvent`",
      frames(stream(), all => expect(all[0].result.type).toBe("TaskStatusUpdateEvent")),
    ],
    [
      "with `taskId`, `status` and `final: false`",
      frames(stream(), all =>
        expect(all[1].result).toMatchObject({
          taskId: expect.any(String),
          status: { state: "working" },
          final: false,
        }),
      ),
    ],
    [
      "or `TaskArtifactUpdateEvent`, with `artifact` and `final: false`",
      frames(stream(), all =>
        expect(all[2].result).toMatchObject({
          type: "TaskArtifactUpdateEvent",
          artifact: { parts: [{ text: "hello" }] },
          final: false,
        }),
      ),
    ],
    [
      "the last is the terminal status with `final: true`",
      frames(stream(), all =>
        expect(all.at(-1).result).toMatchObject({
          type: "TaskStatusUpdateEvent",
          status: { state: "completed" },
          final: true,
        }),
      ),
    ],
    [
      "`final: true` is the end of the stream",
      frames(stream(), all => expect(all.filter(({ result }) => result.final)).toHaveLength(1)),
    ],
    [
      "a canceled task ends its stream",
      async probe =>
        expect((await probe.share(cancel)).events.at(-1)?.data.result).toMatchObject({
          status: { state: "canceled" },
          final: true,
        }),
    ],
    ["a stream of a task that waits ends there", elsewhere("S9: a stream ends where the task waits")],
  ],
};

export const SIMPLE: VendorDocument = {
  name: 'simple_a2a "Protocol Details"',
  page: "simple",
  sections: [FORMAT, METHODS, ERRORS, VERSIONS, LIFECYCLE, STREAMING],
};
