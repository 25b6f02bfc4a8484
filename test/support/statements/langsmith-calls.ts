import { expect } from "vitest";
import { toUuid } from "../../../src/server/catalog.ts";
import { frames, gives, has, hasStatus, type Request, refuses } from "./checks.ts";
import { call, type Probe, type Reply } from "./probe.ts";
import { byDefault, type Section, type Statement } from "./statement.ts";

/** LangSmith, "A2A JSON-RPC": the request. */

export const CONTEXT = "f5bd2a40-74b6-4f7a-b649-ea3f09890003";
const JSON_ONLY = { accept: "application/json" };
const STREAM = { accept: "text/event-stream" };

export const message = (more: object = {}) => ({
  message: { role: "user", parts: [{ kind: "text", text: "Hello" }], messageId: "msg-1", ...more },
});
export const post =
  (body: unknown, agent = "echo", headers: Readonly<Record<string, string>> = JSON_ONLY): Request =>
  probe =>
    probe.post(`/a2a/${agent}`, body, headers);
export const send = (more?: object, agent?: string): Request =>
  post(call("message/send", message(more)), agent);
export const stream = (more?: object, agent?: string): Request =>
  post(call("message/stream", message(more)), agent, STREAM);
const data = (value: unknown) => ({ kind: "data", data: value });

/** The completed task that is read by `tasks/get`. */
const ended = (probe: Probe): Promise<Reply> => send({ contextId: CONTEXT })(probe);
export const read =
  (params: object, agent?: string): Request =>
  async probe => {
    const { id, contextId } = (await ended(probe)).json.result;
    return post(call("tasks/get", { id, contextId, ...params }), agent)(probe);
  };
const cancel =
  (params: object): Request =>
  async probe => {
    const { id, contextId } = (await send({}, "asker")(probe)).json.result;
    return post(call("tasks/cancel", { id, contextId, ...params }), "asker")(probe);
  };

const NO_CANCEL = byDefault("`tasks/cancel` works (D6); `strict` refuses it, as the document says");
const NO_CONTEXT = byDefault("`contextId` may be missing: clients such as Mastra's send none");

const METHODS: Section = {
  title: "Supported methods",
  statements: [
    ["assistants are called over JSON-RPC 2.0 at one address", has(send(), { jsonrpc: "2.0", result: {} })],
    ["`method` selects what is done", refuses(post(call("message/sing", {})), -32601)],
    [
      "`message/send` waits for the final task",
      gives(send(), { kind: "task", status: { state: "completed" } }),
    ],
    [
      "`message/stream` sends JSON-RPC responses as Server-Sent Events",
      frames(stream(), all => expect(all.every(one => one.jsonrpc === "2.0" && one.result)).toBe(true)),
    ],
    ["`tasks/get` returns the current state of a task", gives(read({}), { status: { state: "completed" } })],
    ["`tasks/cancel` is not supported and returns an error", has(cancel({}), { error: {} }), NO_CANCEL],
    ["the thread is `message.contextId`", gives(send({ contextId: CONTEXT }, "thread"), artifact(CONTEXT))],
    ["parts of text are supported", gives(send(), artifact("Hello"))],
    [
      "parts of data are supported",
      gives(send({ parts: [data({ a: 1 })] }, "mirror"), { artifacts: [{ parts: [data({ a: 1 })] }] }),
    ],
    [
      "file parts are not",
      refuses(send({ parts: [{ kind: "file", file: { uri: "https://a.example/" } }] }), -32005),
    ],
    [
      "without `message.contextId` a new context is created",
      async probe => {
        const [one, two] = [await send({}, "echo")(probe), await send({}, "memory")(probe)];
        expect(one.json.result.contextId).toMatch(/^[0-9a-f-]{36}$/);
        expect(two.json.result.contextId).not.toBe(one.json.result.contextId);
      },
    ],
    ["text needs `messages` in the input schema", refuses(send({}, "form"), -32602)],
    ["an agent whose input has no schema takes text", gives(send(), { status: { state: "completed" } })],
  ],
};

export function artifact(text: string): object {
  return { artifacts: [{ parts: [{ kind: "text", text }] }] };
}

const PARAMETERS: Section = {
  title: "Path, header and body",
  statements: [
    ["the path is `POST /a2a/{assistant_id}`", hasStatus(send(), 200)],
    ["no other verb", hasStatus(probe => probe.get("/a2a/echo"), 405)],
    ["`assistant_id` is a UUID", gives(send({}, toUuid("echo")), artifact("Hello"))],
    ["`Accept` is required", hasStatus(post(call("message/send", message()), "echo", {}), 400)],
    [
      "for `message/stream` it must include `text/event-stream`",
      hasStatus(post(call("message/stream", message())), 400),
    ],
    [
      "it may include others beside it",
      probe =>
        frames(
          post(call("message/stream", message()), "echo", { accept: "application/json, text/event-stream" }),
          all => expect(all.length).toBeGreaterThan(1),
        )(probe),
    ],
    [
      "for all other methods it is `application/json`",
      hasStatus(post(call("message/send", message()), "echo", STREAM), 400),
    ],
    ["the body is required", hasStatus(post(""), 400)],
    [
      "the body is `application/json`",
      hasStatus(
        post(call("message/send", message()), "echo", { ...JSON_ONLY, "content-type": "text/plain" }),
        400,
      ),
    ],
    ["the body is an object", hasStatus(post([call("message/send", message())]), 400)],
    ['`jsonrpc` is "2.0"', hasStatus(post(call("message/send", message(), { jsonrpc: "1.0" })), 400)],
    [
      "`id` is a string that identifies the request",
      has(post(call("message/send", message(), { id: "a-1" })), { id: "a-1" }),
    ],
    ["`params` is an object", refuses(post(call("message/send", "x")), -32602)],
    [
      "the shape of `params` depends on the method: a message is none of `tasks/get`",
      has(post(call("tasks/get", message())), { error: { code: -32602 } }),
    ],
    ...["jsonrpc", "id", "method"].map(
      (member): Statement => [
        `\`${member}\` is required`,
        hasStatus(post(call("message/send", message(), { [member]: undefined })), 400),
      ],
    ),
  ],
};

const MESSAGE: Section = {
  title: "Message",
  statements: [
    ["`message` is required", refuses(post(call("message/send", {})), -32602)],
    ["`message` is an object", refuses(post(call("message/send", { message: "Hello" })), -32602)],
    ...["user", "agent"].map(
      (role): Statement => [
        `the role \`${role}\``,
        gives(send({ role }), { status: { state: "completed" } }),
      ],
    ),
    ["no other role", refuses(send({ role: "system" }), -32602)],
    ["`parts` is an array", refuses(send({ parts: { kind: "text", text: "Hello" } }), -32602)],
    ["a text part has the kind `text`", gives(send(), artifact("Hello"))],
    ["the content of a text part is a string", refuses(send({ parts: [{ kind: "text", text: 7 }] }), -32602)],
    ["a text part requires `kind`", refuses(send({ parts: [{ text: "Hello" }] }), -32602)],
    ["a text part requires `text`", refuses(send({ parts: [{ kind: "text" }] }), -32602)],
    [
      "a data part has the kind `data`",
      gives(send({ parts: [data({ a: 1 })] }, "input"), { artifacts: [{ parts: [data({ a: 1 })] }] }),
    ],
    ["the content of a data part is an object", refuses(send({ parts: [data([1])] }), -32602)],
    [
      "data is merged into the input of the assistant",
      gives(send({ parts: [data({ a: 1, b: 1 }), data({ b: 2 })] }, "input"), {
        artifacts: [{ parts: [data({ a: 1, b: 2 })] }],
      }),
    ],
    ["a data part requires `kind`", refuses(send({ parts: [{ data: {} }] }), -32602)],
    ["a data part requires `data`", refuses(send({ parts: [{ kind: "data" }] }), -32602)],
    ["no other kinds of parts", has(send({ parts: [{ kind: "song", text: "la" }] }), { error: {} })],
    [
      "`messageId` is made by the client: any string",
      gives(send({ messageId: "mine" }), { status: { state: "completed" } }),
    ],
    ["`messageId` is a string", refuses(send({ messageId: 7 }), -32602)],
    ["`contextId` is the conversation", gives(send({ contextId: CONTEXT }), { contextId: CONTEXT })],
    ["`contextId` is a string", refuses(send({ contextId: 7 }), -32602)],
    ["`taskId` is optional", gives(send({ contextId: CONTEXT }), { status: { state: "completed" } })],
    [
      "`taskId` is ignored",
      gives(send({ contextId: CONTEXT, taskId: "run-456" }), { status: { state: "completed" } }),
    ],
    ...["role", "parts", "messageId"].map(
      (member): Statement => [`\`${member}\` is required`, refuses(send({ [member]: undefined }), -32602)],
    ),
  ],
};

const TASKS: Section = {
  title: "Parameters of tasks/get and tasks/cancel",
  statements: [
    [
      "`id` of `tasks/get` is the task",
      async probe => gives(read({}), { id: (await ended(probe)).json.result.id })(probe),
    ],
    ["`contextId` of `tasks/get` is the thread of the task", gives(read({}), { contextId: CONTEXT })],
    ["a task of another context is not found", refuses(read({ contextId: "another" }), -32001)],
    ["`historyLength` is an integer", refuses(read({ historyLength: 1.5 }), -32602)],
    ["`historyLength` is 0 or more", refuses(read({ historyLength: -1 }), -32602)],
    ["`historyLength` 0 is accepted", gives(read({ historyLength: 0 }), { kind: "task" })],
    ["`historyLength` is 10 or less", refuses(read({ historyLength: 11 }), -32602)],
    [
      "`historyLength` is the maximum number of messages",
      async probe => {
        const lengths = [1, 10].map(historyLength => read({ historyLength })(probe));
        const counts = (await Promise.all(lengths)).map(({ json }) => json.result.history.length);
        expect(counts).toEqual([1, 1]);
      },
    ],
    ["`id` of `tasks/get` is required", refuses(read({ id: undefined }), -32602)],
    ["`contextId` of `tasks/get` is required", refuses(read({ contextId: undefined }), -32602), NO_CONTEXT],
    ["`id` of `tasks/cancel` is the task", has(cancel({ id: "unknown" }), { error: {} })],
    [
      "`contextId` of `tasks/cancel` is the thread of the task",
      has(cancel({ contextId: "another" }), { error: {} }),
    ],
    ["`id` of `tasks/cancel` is required", has(cancel({ id: undefined }), { error: {} })],
    [
      "`contextId` of `tasks/cancel` is required",
      has(cancel({ contextId: undefined, id: "unknown" }), { error: { code: -32602 } }),
      NO_CONTEXT,
    ],
  ],
};

export const CALLS: readonly Section[] = [METHODS, PARAMETERS, MESSAGE, TASKS];
