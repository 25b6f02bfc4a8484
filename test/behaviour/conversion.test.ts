import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createScriptedAgent, echo, mirror } from "../support/agents.ts";
import { openStream } from "../support/client.ts";
import {
  getTask,
  type Loose,
  rpcResult,
  startTask,
  untilState,
  V1,
  V03,
} from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/v03.md#differences: one task, written in v1 and read in v0.3, and the other way round. */

const puppet = createScriptedAgent();
const clerk = {
  name: "clerk",
  async *run(_task: unknown, ctx: Loose) {
    yield ctx.text("# Hi", { mediaType: "text/markdown", name: "note" });
    yield ctx.data([1, 2, 3]);
    yield ctx.data(null);
    yield ctx.file({ name: "a.png", bytes: "aGk=" });
    yield ctx.file({ name: "b.pdf", url: "https://files.example/b.pdf" });
  },
};
let server: TestServer;
const at = (name: string): string => `${server.url}/agents/${name}`;
beforeAll(async () => {
  server = await serve([mirror, echo, clerk, puppet.definition]);
});
afterAll(() => server.stop());

/** A part sent in one dialect, as both return it, from the history and from an artifact. */
async function shown(part: object, from: typeof V1): Promise<{ v1: Loose; v03: Loose }> {
  const task = from.taskIn(await rpcResult(server.url, from.send, from.sendParams("", { parts: [part] })));
  const [v1, v03] = [await getTask(server.url, task.id), await getTask(server.url, task.id, V03)];
  expect(v1.artifacts[0].parts).toEqual(v1.history[0].parts);
  expect(v03.artifacts[0].parts).toEqual(v03.history[0].parts);
  return { v1: v1.history[0].parts[0], v03: v03.history[0].parts[0] };
}

const wrapped = (value: unknown, metadata = {}) => ({
  kind: "data",
  data: { value },
  metadata: { ...metadata, data_part_compat: true },
});

/** The case, in v1, in v0.3: the same value in both, tested in both directions. */
const PAIRS: readonly [string, object, object][] = [
  ["text", { text: "hi" }, { kind: "text", text: "hi" }],
  ["empty text", { text: "" }, { kind: "text", text: "" }],
  [
    "text with metadata",
    { text: "hi", metadata: { a: [1] } },
    { kind: "text", text: "hi", metadata: { a: [1] } },
  ],
  ["bytes", { raw: "aGk=" }, { kind: "file", file: { bytes: "aGk=" } }],
  [
    "bytes with a name and a type",
    { raw: "aGk=", filename: "a.png", mediaType: "image/png", metadata: { a: 1 } },
    { kind: "file", file: { bytes: "aGk=", name: "a.png", mimeType: "image/png" }, metadata: { a: 1 } },
  ],
  ["a URL", { url: "https://a.example/x?y#z" }, { kind: "file", file: { uri: "https://a.example/x?y#z" } }],
  [
    "a URL with a name and a type",
    { url: "https://a.example/x", filename: "x", mediaType: "text/csv" },
    { kind: "file", file: { uri: "https://a.example/x", name: "x", mimeType: "text/csv" } },
  ],
  ["an object", { data: { a: { b: [null, 1, "x"] } } }, { kind: "data", data: { a: { b: [null, 1, "x"] } } }],
  ["an empty object", { data: {} }, { kind: "data", data: {} }],
  [
    "an object with metadata",
    { data: { a: 1 }, metadata: { m: 1 } },
    { kind: "data", data: { a: 1 }, metadata: { m: 1 } },
  ],
  ["an object with unusual names", JSON.parse('{"data":{"__proto__":1,"constructor":2,"":3}}'), odd()],
  ["an array", { data: [1, { a: 2 }] }, wrapped([1, { a: 2 }])],
  ["an array with metadata", { data: [1], metadata: { m: 1 } }, wrapped([1], { m: 1 })],
  ["a number", { data: 5 }, wrapped(5)],
  ["zero", { data: 0 }, wrapped(0)],
  ["a string", { data: "text" }, wrapped("text")],
  ["an empty string", { data: "" }, wrapped("")],
  ["false", { data: false }, wrapped(false)],
  ["null", { data: null }, wrapped(null)],
];
function odd(): object {
  return JSON.parse('{"kind":"data","data":{"__proto__":1,"constructor":2,"":3}}');
}

describe.each(PAIRS)("%s", (_, v1, v03) => {
  it("written in v1 is read in v1 and in v0.3", async () => {
    expect(await shown(v1, V1)).toEqual({ v1, v03 });
  });
  it("written in v0.3 is read in v1 and in v0.3", async () => {
    expect(await shown(v03, V03)).toEqual({ v1, v03 });
  });
});

it("the media type and the name of a text, which v0.3 has no members for, are sent as metadata", async () => {
  const part = { text: "# hi", mediaType: "text/markdown", filename: "a.md", metadata: { m: 1 } };
  const { v1, v03 } = await shown(part, V1);
  expect(v1).toEqual(part);
  const metadata = { m: 1, mediaType: "text/markdown", filename: "a.md" };
  expect(v03).toEqual({ kind: "text", text: "# hi", metadata });
});

it.each([
  ["an object", { a: 1 }],
  ["an array", [1]],
])("the media type and the name of data (%s), too, are not lost in v0.3", async (_, data) => {
  const part = { data, mediaType: "application/ld+json", filename: "a.json" };
  const { v1, v03 } = await shown(part, V1);
  expect(v1).toEqual(part);
  expect(v03.metadata).toMatchObject({ mediaType: "application/ld+json", filename: "a.json" });
});

it("base64 is accepted in both alphabets, padded or not, and returned in the standard one", async () => {
  for (const raw of ["+/+/", "-_-_"]) expect((await shown({ raw }, V1)).v03.file.bytes).toBe("+/+/");
  for (const bytes of ["aGk=", "aGk"])
    expect((await shown({ kind: "file", file: { bytes } }, V03)).v1.raw).toBe("aGk=");
});

it("v0.3 accepts `data` for the bytes of a file, as its own examples have it", async () => {
  const { v1 } = await shown({ kind: "file", file: { data: "aGk=", mimeType: "text/plain" } }, V03);
  expect(v1).toEqual({ raw: "aGk=", mediaType: "text/plain" });
});

it("ProtoJSON: v1 accepts snake_case names and numbers for enums", async () => {
  const message = {
    message_id: "m",
    context_id: "snake",
    role: 1,
    parts: [{ text: "x", media_type: "text/plain" }],
  };
  const params = { message, configuration: { history_length: 0, accepted_output_modes: ["text/plain"] } };
  const { task } = await rpcResult(server.url, "SendMessage", params);
  expect(task).toMatchObject({ contextId: "snake", artifacts: [{ parts: [{ mediaType: "text/plain" }] }] });
  expect(task).not.toHaveProperty("history");
});

it("roles, states and kinds have the names of their dialect", async () => {
  const { task } = await rpcResult(at("echo"), V1.send, V1.sendParams("hi"));
  expect(task.status.state).toBe("TASK_STATE_COMPLETED");
  expect(task.history[0].role).toBe("ROLE_USER");
  expect(JSON.stringify(task)).not.toContain('"kind"');
  const old = await getTask(at("echo"), task.id, V03);
  expect(old).toMatchObject({
    kind: "task",
    status: { state: "completed" },
    history: [{ kind: "message", role: "user", parts: [{ kind: "text" }] }],
    artifacts: [{ parts: [{ kind: "text", text: "hi" }] }],
  });
  expect(old.status.timestamp).toBe(task.status.timestamp);
});

it.each(["failed", "rejected", "input-required", "auth-required", "canceled", "working"])(
  "the state %s has its name in both dialects",
  async state => {
    const { id } = await startTask(at("puppet"), V1, "go");
    if (state === "failed") puppet.send(id, ctx => ctx.fail("Sorry."));
    else if (state === "rejected") puppet.send(id, ctx => ctx.reject("No."));
    else if (state.endsWith("-required")) puppet.send(id, ctx => ({ ...ctx.ask("Well?"), state }) as never);
    else if (state === "canceled") await rpcResult(at("puppet"), "CancelTask", { id });
    const task = await untilState(at("puppet"), id, state);
    expect(task.status.state).toBe(`TASK_STATE_${state.toUpperCase().replace("-", "_")}`);
    const old = await getTask(at("puppet"), id, V03);
    expect(old.status.state).toBe(state);
    if (state === "failed" || state === "rejected")
      expect(old.status.message).toMatchObject({ kind: "message", role: "agent", taskId: id });
    puppet.end(id);
  },
);

it("`blocking` is the opposite of `returnImmediately`; without it a send blocks", async () => {
  for (const configuration of [undefined, {}, { blocking: true }]) {
    const task = await rpcResult(at("echo"), V03.send, V03.sendParams("hi", {}, { configuration }));
    expect(task.status.state).toBe("completed");
  }
  for (const configuration of [undefined, {}, { returnImmediately: false }]) {
    const { task } = await rpcResult(at("echo"), V1.send, V1.sendParams("hi", {}, { configuration }));
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
  }
  const { id, status } = await startTask(at("puppet"), V03, "later");
  expect(["submitted", "working"]).toContain(status.state);
  puppet.end(id);
});

it("metadata of the call and of the message are unchanged in both dialects", async () => {
  const metadata = { "https://ext.example/x": { a: [1, null] }, thread_id: "t" };
  for (const dialect of [V1, V03]) {
    const params = dialect.sendParams("hi", { metadata, extensions: ["urn:x"] }, { metadata: { call: 1 } });
    const task = dialect.taskIn(await rpcResult(server.url, dialect.send, params));
    for (const seen of [await getTask(server.url, task.id), await getTask(server.url, task.id, V03)]) {
      expect(seen.metadata).toEqual({ call: 1 });
      expect(seen.history[0]).toMatchObject({ metadata, extensions: ["urn:x"] });
    }
  }
});

it("append and lastChunk are omitted in v1 where false, and always present in v0.3", async () => {
  const chunks = async (dialect: typeof V1) => {
    const stream = await openStream(at("clerk"), dialect.stream, dialect.sendParams("go"));
    const items = (await stream.all()).map(event => dialect.toItem(event.data));
    return items.filter(one => one.kind === "artifact").map(one => one.value);
  };
  const [first, second] = await chunks(V1);
  expect(first).not.toHaveProperty("append");
  expect(second).toMatchObject({ lastChunk: true });
  for (const one of await chunks(V03)) {
    expect(one.append).toBe(false);
    expect(one.lastChunk).toEqual(expect.any(Boolean));
  }
});

it("R17: objects of v1 have only members of their closed schemas", async () => {
  const { task } = await rpcResult(at("clerk"), V1.send, V1.sendParams("go"));
  const known: Record<string, string[]> = {
    task: ["id", "contextId", "status", "artifacts", "history", "metadata"],
    status: ["state", "message", "timestamp"],
    message: [
      "messageId",
      "role",
      "parts",
      "contextId",
      "taskId",
      "metadata",
      "extensions",
      "referenceTaskIds",
    ],
    artifact: ["artifactId", "name", "description", "parts", "metadata", "extensions"],
    part: ["text", "raw", "url", "data", "filename", "mediaType", "metadata"],
  };
  const check = (what: string, value: object) => {
    for (const name of Object.keys(value)) expect(known[what]).toContain(name);
  };
  check("task", task);
  check("status", task.status);
  for (const message of task.history) check("message", message);
  for (const artifact of task.artifacts) {
    check("artifact", artifact);
    for (const part of artifact.parts) check("part", part);
  }
});
