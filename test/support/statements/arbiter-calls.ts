import { expect } from "vitest";
import { frames, gives, has, type Request, refuses } from "./checks.ts";
import { call, fetchBare, type Probe } from "./probe.ts";
import { always, type Section, type Statement } from "./statement.ts";

/** Arbiter, "POST /v1/a2a/agents/:id": requests, message/send and message/stream. */

export const address = (agent: string): string => `/v1/a2a/agents/${agent}`;
const JSON_TYPE = { "content-type": "application/json" };
export const post =
  (body: unknown, agent = "echo", headers: Readonly<Record<string, string>> = {}): Request =>
  probe =>
    probe.post(address(agent), body, headers);
export const message = (more: object = {}) => ({
  message: {
    role: "user",
    messageId: "m-1",
    parts: [{ kind: "text", text: "summarize this RFC" }],
    contextId: "c-42",
    ...more,
  },
});
export const send = (more?: object, agent?: string, headers?: Readonly<Record<string, string>>): Request =>
  post(call("message/send", message(more), { id: 1 }), agent, headers);
export const stream = (agent?: string): Request => post(call("message/stream", message(), { id: 1 }), agent);

/** A call to the server that needs tokens; `tenant` undefined: without a token. */
export async function asTenant(probe: Probe, tenant: string | undefined, body: object) {
  const guarded = await probe.guarded();
  const headers = tenant && (await guarded.issue(`caller of ${tenant}`, { tenants: [tenant] })).headers;
  return fetchBare(guarded.url + address("echo"), "POST", body, { ...JSON_TYPE, ...(headers || {}) });
}

const version = (value: string): Request => send({}, "echo", { "a2a-version": value });
const REQUEST: Section = {
  title: "Endpoint, headers and body",
  statements: [
    [
      "the tenant is authenticated",
      async probe =>
        expect((await asTenant(probe, undefined, call("tasks/get", { id: "x" }))).status).toBe(401),
    ],
    [
      "a bearer token of the tenant is accepted",
      async probe =>
        expect(
          (await asTenant(probe, "default", call("message/send", message()))).json.result.status.state,
        ).toBe("completed"),
    ],
    ["the method is selected by `method`, not by the path", refuses(post(call("message/sing", {})), -32601)],
    [
      "unary methods: HTTP 200 with `result`",
      async probe => expect(await send()(probe)).toMatchObject({ status: 200, json: { result: {} } }),
    ],
    ["`message/stream`: Server-Sent Events", frames(stream(), all => expect(all.length).toBeGreaterThan(1))],
    ["protocol errors: HTTP 200 with `error.code`", refuses(post(call("tasks/get", { id: "nope" })), -32001)],
    [
      "`:id` is found as in `GET /v1/a2a/agents/:id/agent-card.json`",
      has(probe => probe.get(`${address("echo")}/agent-card.json`), { name: "echo" }),
    ],
    ["`index` is built in", gives(send({}, "index"), { status: { state: "completed" } })],
    ["the agents of the tenant are there", gives(send({}, "words"), { status: { state: "completed" } })],
    [
      "`Content-Type: application/json`",
      has(
        probe =>
          probe.send("POST", address("echo"), call("message/send", message()), {
            "content-type": "text/plain",
          }),
        { error: {} },
      ),
    ],
    ["`A2A-Version: 1.0`", gives(version("1.0"), { kind: "task" })],
    ["`A2A-Version: 1`", gives(version("1"), { kind: "task" })],
    ["`A2A-Version` may be empty", gives(version(""), { kind: "task" })],
    ["`A2A-Version` is optional", gives(send(), { kind: "task" })],
    ["any other value is VersionNotSupportedError", refuses(version("0.3"), -32007)],
    ["the body is a JSON-RPC 2.0 envelope", has(send(), { jsonrpc: "2.0" })],
    ...["text", 7, null].map(
      (id): Statement => [
        `\`id\` may be ${id === null ? "null" : typeof id}, and is returned unchanged`,
        has(post(call("tasks/get", { id: "nope" }, { id })), { id }),
      ],
    ),
  ],
};

const reply = { role: "agent", parts: [{ kind: "text", text: "summarize this RFC" }] };
const SEND: Section = {
  title: "message/send",
  statements: [
    ["waits for a terminal state", gives(send(), { status: { state: "completed" } })],
    ["`messageId` is required", refuses(send({ messageId: undefined }), -32602)],
    ["`contextId` is optional", gives(send({ contextId: undefined }), { status: { state: "completed" } })],
    ["`contextId` is returned unchanged", gives(send({ contextId: "a b/ü" }), { contextId: "a b/ü" })],
    [
      "the same `contextId` groups requests",
      async probe => {
        const [one, two] = await Promise.all([
          send({}, "echo")(probe),
          send({ messageId: "m-2" }, "echo")(probe),
        ]);
        expect(two.json.result.contextId).toBe(one.json.result.contextId);
        expect(two.json.result.id).not.toBe(one.json.result.id);
      },
    ],
    [
      "the server keeps no relation between context and thread",
      async probe => {
        await send({ contextId: "kept" }, "memory")(probe);
        const again = send({ contextId: "kept", messageId: "m-2" }, "memory");
        await gives(again, { status: { message: { parts: [{ kind: "text", text: "nothing" }] } } })(probe);
      },
      always("contexts are stored: an agent can read the earlier turns of its context, in every dialect"),
    ],
    ["text is accepted", gives(send(), { status: { message: reply } })],
    [
      "a file is ContentTypeNotSupported",
      refuses(send({ parts: [{ kind: "file", file: { uri: "https://a.example/" } }] }), -32005),
    ],
    ["data is ContentTypeNotSupported", refuses(send({ parts: [{ kind: "data", data: {} }] }), -32005)],
    ["the result is a task", gives(send(), { kind: "task" })],
    ["with an `id`", gives(send(), { id: expect.stringMatching(/./) })],
    ["with the `contextId`", gives(send(), { contextId: "c-42" })],
    ["with the state `completed`", gives(send(), { status: { state: "completed" } })],
    ["with the reply in `status.message`", gives(send(), { status: { message: reply } })],
    [
      "whose `messageId` is the id of the task and `-r`",
      async probe => {
        const { result } = (await send()(probe)).json;
        expect(result.status.message.messageId).toBe(`${result.id}-r`);
      },
    ],
    [
      "`history` is the message of the user and the reply",
      gives(send(), { history: [{ role: "user" }, reply] }),
    ],
    [
      "`metadata` has `x-arbiter.agent_id`",
      gives(send({}, "index"), { metadata: { "x-arbiter.agent_id": "index" } }),
    ],
    ["`x-arbiter.input_tokens`", gives(send({}, "words"), { metadata: { "x-arbiter.input_tokens": 142 } })],
    ["`x-arbiter.output_tokens`", gives(send({}, "words"), { metadata: { "x-arbiter.output_tokens": 218 } })],
    [
      "all metadata of Arbiter has the prefix `x-arbiter.`",
      async probe =>
        expect(
          Object.keys((await send({}, "words")(probe)).json.result.metadata).filter(
            key => !key.startsWith("x-arbiter."),
          ),
        ).toEqual([]),
    ],
  ],
};

/** The results of a stream: its first, those with text, and its last. */
const words = (check: (first: Frame, texts: readonly Frame[], last: Frame) => unknown) =>
  frames(stream("words"), all => {
    const results = all.map(({ result }) => result);
    check(
      results[0],
      results.filter(({ kind }) => kind === "artifact-update"),
      results.at(-1),
    );
  });
type Frame = Awaited<ReturnType<Request>>["json"];

const STREAM: Section = {
  title: "message/stream",
  statements: [
    [
      "the parameters are those of `message/send`",
      refuses(post(call("message/stream", message({ messageId: undefined }))), -32602),
    ],
    ["`Content-Type: text/event-stream`", frames(stream(), all => expect(all.length).toBeGreaterThan(1))],
    [
      "records are called `message`",
      async probe =>
        expect(new Set((await stream()(probe)).events.map(({ event }) => event))).toEqual(
          new Set(["message"]),
        ),
    ],
    [
      "each has an envelope with the `id` of the call",
      frames(stream(), all => expect(all.every(one => one.jsonrpc === "2.0" && one.id === 1)).toBe(true)),
    ],
    [
      "the first is a `status-update`, `working`",
      words(first => expect(first).toMatchObject({ kind: "status-update", status: { state: "working" } })),
    ],
    [
      "with `taskId`, `contextId` and `final: false`",
      words(first =>
        expect(first).toMatchObject({ taskId: expect.any(String), contextId: "c-42", final: false }),
      ),
    ],
    [
      "text comes as `artifact-update`",
      words((_, texts) =>
        expect(texts.map(({ artifact }) => artifact.parts[0].text).join("")).toBe("hello there"),
      ),
    ],
    [
      "its `artifactId` is that of the task and `-text-0`",
      words((first, texts) => expect(texts[0].artifact.artifactId).toBe(`${first.taskId}-text-0`)),
    ],
    ["its name is `response`", words((_, texts) => expect(texts[0].artifact.name).toBe("response"))],
    ["the first has `append: false`", words((_, texts) => expect(texts[0].append).toBe(false))],
    [
      "the next ones `append: true`",
      words((_, texts) => expect(texts.slice(1).every(({ append }) => append)).toBe(true)),
    ],
    [
      "the last is a `status-update`, `completed`, with the message",
      words((_, __, last) =>
        expect(last).toMatchObject({
          kind: "status-update",
          status: { state: "completed", message: { role: "agent" } },
        }),
      ),
    ],
    ["with `final: true`", words((_, __, last) => expect(last.final).toBe(true))],
    [
      "the stream closes after it",
      frames(stream("words"), all => expect(all.filter(({ result }) => result.final)).toHaveLength(1)),
    ],
  ],
};

export const CALLS: readonly Section[] = [REQUEST, SEND, STREAM];
