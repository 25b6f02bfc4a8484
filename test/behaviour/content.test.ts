import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentTask } from "../../src/agent/context.ts";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { createScriptedAgent, echo, mirror } from "../support/agents.ts";
import { openStream } from "../support/client.ts";
import {
  fieldsOf,
  getTask,
  type Loose,
  OFFICIAL_DIALECTS,
  rpcError,
  rpcResult,
  startTask,
  type TestDialect,
  untilState,
  V1,
} from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/README.md#sending, second half: the content of messages and of replies. */

const puppet = createScriptedAgent();
let server: TestServer;
let root: string;
const at = (name: string): string => `${server.url}/agents/${name}`;

const SECRET = "password=hunter2 in /home/someone/agent.ts";

beforeAll(async () => {
  const reader = { ...mirror, name: "reader", inputModes: ["text/*", "application/pdf"] };
  const skilled = {
    ...mirror,
    name: "skilled",
    inputModes: ["text/plain"],
    skills: [{ id: "look", inputModes: ["image/png"] }],
  };
  server = await serve([echo, mirror, reader, skilled, chooser, ...broken, puppet.definition]);
  root = server.url;
});
afterAll(() => server.stop());

const acceptedModes = ({ accepts }: AgentTask): string => accepts.join(" or ") || "anything";
/** Returns the output modes that its caller accepts, in each of two turns. */
const chooser: AgentDefinition = {
  name: "chooser",
  run: (task, ctx) => (task.turn === 1 ? ctx.ask(acceptedModes(task)) : ctx.text(acceptedModes(task))),
};

/** Agents with forbidden output. */
const broken = [
  {
    name: "thrower",
    async *run(_task: unknown, ctx: Loose) {
      yield ctx.text("so far, so good");
      throw new Error(SECRET);
    },
  },
  {
    name: "mute-thrower",
    run() {
      throw new Error(SECRET);
    },
  },
  {
    name: "babbler",
    async *run() {
      yield { kind: "nonsense", text: SECRET } as Loose;
    },
  },
  {
    name: "partless",
    async *run() {
      yield { type: "artifact", artifact: { artifactId: "a", parts: [] } } as Loose;
    },
  },
  {
    name: "undead",
    async *run(_task: unknown, ctx: Loose) {
      yield ctx.reject("No.");
      yield ctx.text("And yet");
    },
  },
];

const file = (dialect: TestDialect, mediaType: string): object =>
  dialect === V1
    ? { raw: "aGk=", mediaType }
    : { kind: "file", file: { bytes: "aGk=", mimeType: mediaType } };
const data = (dialect: TestDialect): object =>
  dialect === V1 ? { data: { a: 1 } } : { kind: "data", data: { a: 1 } };
const send = (dialect: TestDialect, parts: readonly object[]): Loose => dialect.sendParams("", { parts });

describe.each(OFFICIAL_DIALECTS)("$name", dialect => {
  it.each([
    ["messageId", undefined],
    ["messageId", ""],
    ["role", undefined],
    ["parts", undefined],
    ["parts", []],
  ])(
    "B-M10: a message whose %s is %j is an invalid parameter, and the field is named",
    async (name, value) => {
      const error = await rpcError(root, dialect.send, dialect.sendParams("hi", { [name]: value }));
      expect(error.code).toBe(-32602);
      expect(error.message).toContain(`message.${name}`);
      if (dialect === V1) expect(fieldsOf(error)).toEqual([`message.${name}`]);
    },
  );

  it("B-M10: each part has exactly one content, and the error names the part that has not", async () => {
    const one = dialect.textPart("fine");
    const two =
      dialect === V1
        ? { text: "a", url: "https://a.example" }
        : { kind: "file", file: { bytes: "aGk=", uri: "https://a.example" } };
    for (const part of [two, {}, { metadata: {} }]) {
      const error = await rpcError(root, dialect.send, send(dialect, [one, part]));
      expect(error.code).toBe(-32602);
      expect(error.message).toContain("message.parts[1]");
    }
  });

  it("B-M10: a caller may have the role of an agent, and no third one", async () => {
    const role = dialect === V1 ? "ROLE_AGENT" : "agent";
    const sent = await rpcResult(root, dialect.send, dialect.sendParams("hi", { role }));
    expect(dialect.taskIn(sent).history[0].role).toBe(dialect === V1 ? "ROLE_USER" : "user");
    const error = await rpcError(root, dialect.send, dialect.sendParams("hi", { role: "system" }));
    expect(error.code).toBe(-32602);
    expect(error.message).toContain("message.role");
  });

  it.each(["image/png", "application/octet-stream", "textual/plain"])(
    "B-M11: a file of type %s is ContentTypeNotSupported where it is not accepted",
    async type => {
      const error = await rpcError(at("reader"), dialect.send, send(dialect, [file(dialect, type)]));
      expect(error.code).toBe(-32005);
    },
  );

  it.each(["application/pdf", "APPLICATION/PDF", "text/html; charset=utf-8", "text/csv"])(
    "B-M11: a file of type %s is accepted where its type is covered",
    async type => {
      const result = await rpcResult(at("reader"), dialect.send, send(dialect, [file(dialect, type)]));
      expect(dialect.stateOf(dialect.taskIn(result))).toBe("completed");
    },
  );

  it("B-M11: text without a media type is text/plain, data is application/json", async () => {
    await rpcResult(at("reader"), dialect.send, send(dialect, [dialect.textPart("hi")]));
    expect((await rpcError(at("reader"), dialect.send, send(dialect, [data(dialect)]))).code).toBe(-32005);
    await rpcResult(root, dialect.send, send(dialect, [data(dialect)]));
  });

  it("B-M11: one part that is not covered refuses the message, and the error names it", async () => {
    const parts = [dialect.textPart("hi"), file(dialect, "image/png")];
    const error = await rpcError(at("reader"), dialect.send, send(dialect, parts));
    expect(error.code).toBe(-32005);
    if (dialect === V1) expect(fieldsOf(error)).toEqual(["message.parts[1]"]);
  });

  it("B-M11: a media type that only a skill accepts is covered", async () => {
    const result = await rpcResult(at("skilled"), dialect.send, send(dialect, [file(dialect, "image/png")]));
    expect(dialect.stateOf(dialect.taskIn(result))).toBe("completed");
    expect(
      (await rpcError(at("skilled"), dialect.send, send(dialect, [file(dialect, "image/gif")]))).code,
    ).toBe(-32005);
  });

  it("B-M12: results are in artifacts, not in the status or in the history", async () => {
    const configuration = { acceptedOutputModes: ["text/plain"] };
    const task = dialect.taskIn(
      await rpcResult(root, dialect.send, dialect.sendParams("hi", {}, { configuration })),
    );
    expect(task.artifacts[0].parts[0].text).toBe("hi");
    expect(task.status.message).toBeUndefined();
    expect(task.history).toHaveLength(1);
  });

  it("B-M13: the same messageId twice is two messages, unless the agent declares otherwise", async () => {
    const params = dialect.sendParams("again");
    const first = dialect.taskIn(await rpcResult(root, dialect.send, params));
    const second = dialect.taskIn(await rpcResult(root, dialect.send, params));
    expect(first.id).not.toBe(second.id);
  });

  it("B-M14: references to unknown tasks are stored and otherwise ignored", async () => {
    const referenceTaskIds = ["nope", "01890000-0000-7000-8000-000000000000"];
    const task = dialect.taskIn(
      await rpcResult(root, dialect.send, dialect.sendParams("hi", { referenceTaskIds })),
    );
    expect(dialect.stateOf(task)).toBe("completed");
    expect(task.history[0].referenceTaskIds).toEqual(referenceTaskIds);
  });

  it("B-M15: task ids are unique UUIDs created by the server", async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) => rpcResult(root, dialect.send, dialect.sendParams(`${i}`))),
    );
    const ids = results.map(result => dialect.taskIn(result).id);
    expect(new Set(ids).size).toBe(50);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it.each(["thrower", "mute-thrower", "babbler", "partless"])(
    "B-M16: an error in the agent %s is a failed task that hides internals",
    async name => {
      const task = dialect.taskIn(await rpcResult(at(name), dialect.send, dialect.sendParams("go")));
      expect(dialect.stateOf(task)).toBe("failed");
      expect(task.status.message.parts[0].text).toMatch(/fail/i);
      expect(JSON.stringify(task)).not.toMatch(/hunter2|agent\.ts|Error|nonsense/);
      expect(JSON.stringify(await getTask(at(name), task.id))).not.toContain("hunter2");
    },
  );

  it("B-M16: the output before the failure is kept", async () => {
    const task = dialect.taskIn(await rpcResult(at("thrower"), dialect.send, dialect.sendParams("go")));
    expect(task.artifacts[0].parts[0].text).toBe("so far, so good");
  });

  it("B-M16: the operator finds the cause in the log", async () => {
    const task = dialect.taskIn(await rpcResult(at("thrower"), dialect.send, dialect.sendParams("go")));
    const ref = /under (\S+?)\.?$/.exec(task.status.message.parts[0].text)?.[1];
    const line = server.log.lines.find(one => one.facts.taskId === task.id && one.level === "error");
    expect(line?.facts.ref).toBe(ref);
    expect(String(line?.facts.err)).toContain("hunter2");
  });

  it("B-M16: output after the end is ignored", async () => {
    const task = dialect.taskIn(await rpcResult(at("undead"), dialect.send, dialect.sendParams("go")));
    expect(dialect.stateOf(task)).toBe("rejected");
    expect(task.artifacts).toBeUndefined();
    const now = await getTask(at("undead"), task.id, dialect);
    expect(dialect.stateOf(now)).toBe("rejected");
    expect(now.artifacts).toBeUndefined();
  });

  it("B-M17: a caller that disconnects during a stream does not stop the task", async () => {
    const stream = await openStream(at("puppet"), dialect.stream, dialect.sendParams("work"));
    const { value: task } = dialect.toItem((await stream.next())?.data);
    stream.close();
    puppet.send(task.id, ctx => ctx.text("nobody listens"));
    puppet.end(task.id);
    const ended = await untilState(at("puppet"), task.id, "completed");
    expect(ended.artifacts[0].parts[0].text).toBe("nobody listens");
  });

  it("B-M17: a caller that disconnects during a blocking send does not stop the task", async () => {
    const contextId = `gone-${dialect.name}`;
    const controller = new AbortController();
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: dialect.send,
      params: dialect.sendParams("work", { contextId }),
    });
    const headers = { "content-type": "application/json", "a2a-version": dialect.version };
    const sent = fetch(at("puppet"), { method: "POST", headers, body, signal: controller.signal });
    const id = await firstIn(contextId);
    controller.abort();
    await expect(sent).rejects.toThrow();
    puppet.send(id, ctx => ctx.text("nobody waits"));
    puppet.end(id);
    const ended = await untilState(at("puppet"), id, "completed");
    expect(ended.artifacts[0].parts[0].text).toBe("nobody waits");
  });

  it("B-M17: a task that was started without blocking ends without any reader", async () => {
    const task = await startTask(at("puppet"), dialect, "alone");
    puppet.end(task.id);
    expect((await untilState(at("puppet"), task.id, "completed")).id).toBe(task.id);
  });
});

async function firstIn(contextId: string): Promise<string> {
  for (let tries = 0; tries < 5_000; tries++) {
    const { tasks } = await rpcResult(at("puppet"), "ListTasks", { contextId });
    if (tasks.length > 0) return tasks[0].id;
  }
  throw new Error("the task was never listed");
}

describe.each(OFFICIAL_DIALECTS)("$name: acceptedOutputModes", dialect => {
  it("reach the agent, separately for each turn", async () => {
    const configuration = { acceptedOutputModes: ["image/png", "text/plain"] };
    const first = dialect.taskIn(
      await rpcResult(at("chooser"), dialect.send, dialect.sendParams("hi", {}, { configuration })),
    ) as Loose;
    expect(first.status.message.parts[0].text).toBe("image/png or text/plain");
    const answer = dialect.sendParams("go on", { taskId: first.id });
    const second = dialect.taskIn(await rpcResult(at("chooser"), dialect.send, answer)) as Loose;
    expect(second.artifacts[0].parts[0].text).toBe("anything");
  });
});
