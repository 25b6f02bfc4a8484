import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asker, echo } from "../support/agents.ts";
import { openStream, rpc } from "../support/client.ts";
import { type Loose, OFFICIAL_DIALECTS, rpcError, rpcResult, V1, V03 } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/README.md R3, R4, R5, R7, B-V1, B-V2, B-V3: the dialect and the version of the response. */

let lenient: TestServer;
let strict: TestServer;
const needy = {
  ...echo,
  name: "needy",
  extensions: [
    { uri: "urn:example:needed", required: true },
    { uri: "urn:example:nice", required: false },
  ],
};
beforeAll(async () => {
  lenient = await serve([echo, needy, asker]);
  strict = await serve([echo], { versionPolicy: "strict" });
});
afterAll(() => Promise.all([lenient.stop(), strict.stop()]));

/** A call with exactly these headers. */
async function call(url: string, method: string, params: unknown, version?: string): Promise<Loose> {
  const headers = {
    "content-type": "application/json",
    ...(version !== undefined && { "a2a-version": version }),
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, { method: "POST", headers, body });
  return { used: response.headers.get("a2a-version"), ...((await response.json()) as object) };
}

const WRONG = ["2.0", "1.1", "9.9.9", "0.4", "latest", "v1", "1.x", "1.0, 1.0", "-1"];

describe("R3: the value of the version", () => {
  it.each(["1.0", "1.0.0", "1.0.1", "1", " 1.0 ", "01.0"])(
    "B-V1: %j is 1.0; the patch version is ignored",
    async version => {
      const reply = await call(lenient.url, "ListTasks", {}, version);
      expect(reply).toMatchObject({ used: "1.0", result: { pageSize: 50 } });
    },
  );

  it.each(["0.3", "0.3.0", "0.3.14", " 0.3 "])("B-V1: %j is 0.3", async version => {
    const reply = await call(lenient.url, V03.send, V03.sendParams("hi"), version);
    expect(reply).toMatchObject({ used: "0.3", result: { kind: "task" } });
  });

  it.each(["", "  "])("B-V1: an empty version (%j) is 0.3", async version => {
    const reply = await call(lenient.url, V03.send, V03.sendParams("hi"), version);
    expect(reply).toMatchObject({ used: "0.3", result: { kind: "task" } });
    expect((await call(strict.url, "SendMessage", V1.sendParams("hi"), version)).error.code).toBe(-32009);
  });

  it("B-V1: the query may name the version; the header takes precedence", async () => {
    const url = `${strict.url}/?A2A-Version=1.0`;
    expect((await call(url, "ListTasks", {})).result.pageSize).toBe(50);
    expect((await call(url, "ListTasks", {}, "9.9")).error.code).toBe(-32009);
  });

  it.each(WRONG)("B-V2: %j is VersionNotSupported, with the supported versions", async version => {
    for (const server of [lenient, strict])
      for (const [method, params] of [
        [V1.send, V1.sendParams("hi")],
        [V03.send, V03.sendParams("hi")],
        ["Nonsense", {}],
      ] as const) {
        const { error, id } = await call(server.url, method, params, version);
        expect(error.code).toBe(-32009);
        expect(error.data[0]).toMatchObject({
          reason: "VERSION_NOT_SUPPORTED",
          domain: "a2a-protocol.org",
          metadata: { supportedVersions: expect.stringContaining("1.0") },
        });
        expect(error.data[0].metadata.supportedVersions).toContain("0.3");
        expect(id).toBe(1);
      }
  });
});

describe("R4: the grammar of the method", () => {
  it.each(["Nonsense", "message/nonsense", "sendMessage", "SendMessage ", "tasks", "constructor"])(
    "R4: the unknown method %j is MethodNotFound in the dialect of the header",
    async method => {
      const v1 = await call(lenient.url, method, {}, "1.0");
      const v03 = await call(lenient.url, method, {}, "0.3");
      const none = await call(lenient.url, method, {});
      expect([v1.error.code, v03.error.code, none.error.code]).toEqual([-32601, -32601, -32601]);
      expect(none.used).toBe("0.3");
      expect(none.error).not.toHaveProperty("data");
      expect(v03.used).toBe("0.3");
    },
  );

  it("R4: an unknown method with version 1.0 is an error of v1, with its details", async () => {
    const { error, used } = await call(lenient.url, "Nonsense", {}, "1.0");
    expect(used).toBe("1.0");
    expect(error.data[0]["@type"]).toMatch(/ErrorInfo$/);
  });
});

describe("R5: version and method disagree", () => {
  it("R5: lenient, a method of v1 without a version is served, and the reply names the version used", async () => {
    const reply = await call(lenient.url, "SendMessage", V1.sendParams("hi"));
    expect(reply).toMatchObject({
      used: "1.0",
      result: { task: { status: { state: "TASK_STATE_COMPLETED" } } },
    });
  });

  it("R5: lenient, a method of v0.3 under 1.0 is served, and the reply names the version used", async () => {
    const reply = await call(lenient.url, V03.send, V03.sendParams("hi"), "1.0");
    expect(reply).toMatchObject({ used: "0.3", result: { kind: "task" } });
  });

  it("R5: lenient, a method that only v1 has is served under 0.3", async () => {
    expect(await call(lenient.url, "ListTasks", {}, "0.3")).toMatchObject({
      used: "1.0",
      result: { pageSize: 50 },
    });
  });

  it("R5: a stream names the version used, too", async () => {
    for (const dialect of OFFICIAL_DIALECTS) {
      const stream = await openStream(lenient.url, dialect.stream, dialect.sendParams("hi"), {
        "a2a-version": "",
      });
      expect(stream.headers.get("a2a-version")).toBe(dialect.version);
      await stream.all();
    }
  });

  it("R5: strict, a method of v1 without a version is VersionNotSupported", async () => {
    expect((await call(strict.url, "SendMessage", V1.sendParams("hi"))).error.code).toBe(-32009);
  });

  it("R5: strict, a method of v0.3 under 1.0 is VersionNotSupported", async () => {
    expect((await call(strict.url, V03.send, V03.sendParams("hi"), "1.0")).error.code).toBe(-32009);
  });

  it("R5: strict, a method that only v1 has is MethodNotFound under 0.3", async () => {
    expect((await call(strict.url, "ListTasks", {}, "0.3")).error.code).toBe(-32601);
  });

  it("R5: strict, matching versions are served", async () => {
    expect((await call(strict.url, "SendMessage", V1.sendParams("hi"), "1.0")).result.task).toBeDefined();
    expect((await call(strict.url, V03.send, V03.sendParams("hi"), "0.3")).result.kind).toBe("task");
    expect((await call(strict.url, V03.send, V03.sendParams("hi"))).result.kind).toBe("task");
  });
});

describe("R7: the shared methods", () => {
  it("R7: a task created by v1 is returned to v0.3 in its form, and the other way round", async () => {
    const { task } = await rpcResult(lenient.url, V1.send, V1.sendParams("one"));
    const other = await rpcResult(lenient.url, V03.send, V03.sendParams("two"));
    const seen = await call(lenient.url, "tasks/get", { id: task.id });
    expect(seen).toMatchObject({ used: "0.3", result: { kind: "task", status: { state: "completed" } } });
    const back = await call(lenient.url, "GetTask", { id: other.id }, "1.0");
    expect(back).toMatchObject({ used: "1.0", result: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect(back.result).not.toHaveProperty("kind");
  });

  it("R7: an unknown task without a version is an error of v0.3", async () => {
    const { error, used } = await call(lenient.url, "tasks/get", { id: "nope" });
    expect(used).toBe("0.3");
    expect(error).toEqual({ code: -32001, message: expect.any(String) });
  });

  it("R7: a task started in one dialect continues in the other", async () => {
    const url = `${lenient.url}/agents/asker`;
    const { task } = await rpcResult(url, V1.send, V1.sendParams("book"));
    const on = await rpcResult(url, V03.send, V03.sendParams("red", { taskId: task.id }));
    expect(on).toMatchObject({ id: task.id, contextId: task.contextId, status: { state: "completed" } });
    expect(on.history.map((message: Loose) => message.role)).toEqual(["user", "agent", "user"]);
  });
});

describe.each(OFFICIAL_DIALECTS)("B-V3: extensions, in $name", dialect => {
  const url = () => `${lenient.url}/agents/needy`;
  const header = dialect === V1 ? "a2a-extensions" : "x-a2a-extensions";

  it("B-V3: a required extension that is not named is ExtensionSupportRequired, for both sends", async () => {
    for (const method of [dialect.send, dialect.stream])
      for (const named of [{}, { [header]: "urn:example:other" }, { [header]: "urn:example:needed/v2" }]) {
        const error = await rpcError(
          url(),
          method,
          dialect.sendParams("hi"),
          named as Record<string, string>,
        );
        expect(error.code).toBe(-32008);
        expect(error.message).toContain("urn:example:needed");
      }
  });

  it("B-V3: reading needs no extension", async () => {
    expect((await rpcResult(url(), dialect.list, {})).pageSize).toBe(50);
  });

  it("B-V3: requested extensions that the agent has are active, and the response names them", async () => {
    const named = "urn:example:unknown, urn:example:needed ,urn:example:nice";
    const reply = await rpc(url(), dialect.send, dialect.sendParams("hi"), { [header]: named });
    expect(dialect.taskIn(reply.body.result)).toBeDefined();
    expect(reply.headers.get(header)).toBe("urn:example:needed, urn:example:nice");
  });

  it("B-V3: an unknown extension is ignored", async () => {
    const named = { [header]: "urn:example:unknown" };
    const reply = await rpc(lenient.url, dialect.send, dialect.sendParams("hi"), named);
    expect(dialect.taskIn(reply.body.result)).toBeDefined();
    expect(reply.headers.get(header)).toBeNull();
  });

  it("B-V3: both spellings of the header are accepted", async () => {
    for (const name of ["a2a-extensions", "x-a2a-extensions"])
      await rpcResult(url(), dialect.send, dialect.sendParams("hi"), { [name]: "urn:example:needed" });
  });
});
