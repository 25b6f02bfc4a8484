import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { until } from "../support/client.ts";
import { type Loose, OFFICIAL_DIALECTS, rpcResult, V1, V03 } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** docs/dialects/v1.md#envelope: the envelope of JSON-RPC. */

const puppet = createScriptedAgent();
let server: TestServer;
beforeAll(async () => {
  server = await serve([echo, puppet.definition]);
});
afterAll(() => server.stop());

/** Posts a text unchanged; `body` is the response as text. */
async function post(body: string, version = "1.0", path = ""): Promise<{ status: number; body: string }> {
  const headers = { "content-type": "application/json", ...(version && { "a2a-version": version }) };
  const response = await fetch(`${server.url}${path}`, { method: "POST", headers, body });
  return { status: response.status, body: await response.text() };
}
const idOf = (text: string): string =>
  /^\{"jsonrpc":"2\.0","id":(.*?),"(result|error)"/.exec(text)?.[1] ?? text;

/** As they are in the request and must be in the response. */
const IDS = [
  ...[
    "0",
    "1",
    "-1",
    "1.5",
    "-0.25",
    "9007199254740993",
    "12345678901234567890",
    "1e-7",
    "123456789.123456789123",
  ],
  ...[
    '""',
    '"0"',
    '"abc"',
    '"null"',
    '"ünï 🙂"',
    '"\\"quoted\\\\\\""',
    '"a\\nb"',
    `"${"x".repeat(256)}"`,
    "null",
  ],
];

describe.each(OFFICIAL_DIALECTS)("$name", dialect => {
  const label = (id: string): string => (id.length > 30 ? `${id.slice(0, 10)}… (${id.length})` : id);

  it.each(IDS.map(id => [label(id), id]))("the id %s is returned unchanged", async (_, id) => {
    const params = JSON.stringify(dialect.sendParams("hi"));
    const good = await post(`{"jsonrpc":"2.0","id":${id},"method":"${dialect.send}","params":${params}}`);
    expect(idOf(good.body)).toBe(id);
    expect(good.body).toContain('"result"');
    const bad = await post(`{"jsonrpc":"2.0","id":${id},"method":"${dialect.get}","params":{}}`);
    expect(idOf(bad.body)).toBe(id);
    expect(bad.body).toContain("-32602");
    const unknown = await post(`{"jsonrpc":"2.0","id":${id},"method":"Nonsense"}`);
    expect(idOf(unknown.body)).toBe(id);
    const wrong = await post(`{"id":${id},"method":"Nonsense"}`);
    expect(idOf(wrong.body)).toBe(id);
    expect(wrong.body).toContain("-32600");
  });

  it.each(['"s"', "0", "1.5", "12345678901234567890", "null"])(
    "the id %s is returned in every frame of a stream",
    async id => {
      const params = JSON.stringify(dialect.sendParams("hi"));
      const { body } = await post(
        `{"jsonrpc":"2.0","id":${id},"method":"${dialect.stream}","params":${params}}`,
      );
      const frames = body.split("\n").filter(line => line.startsWith("data: "));
      expect(frames.length).toBeGreaterThan(2);
      for (const frame of frames) expect(idOf(frame.slice(6))).toBe(id);
    },
  );

  it("an id inside params, or after them, is told apart from the id of the call", async () => {
    const params = `{"id":7.25,"metadata":{"id":8.5}}`;
    const { body } = await post(
      `{"method":"${dialect.get}","params":${params},"jsonrpc":"2.0","id":12345678901234567891}`,
    );
    expect(idOf(body)).toBe("12345678901234567891");
  });

  it("a call without an id is executed, and nothing is returned", async () => {
    const contextId = `quiet-${dialect.name}`;
    const params = dialect.sendParams("quietly", { contextId });
    const { status, body } = await post(JSON.stringify({ jsonrpc: "2.0", method: dialect.send, params }));
    expect({ status, body }).toEqual({ status: 204, body: "" });
    const { tasks } = await rpcResult(server.url, "ListTasks", { contextId, includeArtifacts: true });
    expect(tasks[0].artifacts[0].parts[0].text).toBe("quietly");
  });

  it("a streaming call without an id starts the task and returns nothing", async () => {
    const contextId = `quiet-stream-${dialect.name}`;
    const params = dialect.sendParams("quietly", { contextId });
    const { status, body } = await post(JSON.stringify({ jsonrpc: "2.0", method: dialect.stream, params }));
    expect({ status, body }).toEqual({ status: 204, body: "" });
    await until(async () => {
      const { tasks } = await rpcResult(server.url, "ListTasks", { contextId });
      return tasks[0]?.status.state === "TASK_STATE_COMPLETED";
    });
  });

  /** Both official servers answer a refused call of v0.3. */
  const expectRefusal = ({ status, body }: { status: number; body: string }): void => {
    if (dialect === V1) expect({ status, body }).toEqual({ status: 204, body: "" });
    else expect(JSON.parse(body)).toMatchObject({ id: null, error: { code: expect.any(Number) } });
  };

  it("errors in a call without an id are returned with the id null in v0.3, and not in v1", async () => {
    for (const call of [
      { method: dialect.get, params: {} },
      { method: dialect === V1 ? "Nonsense" : dialect.send, params: {} },
    ]) {
      expectRefusal(await post(JSON.stringify({ jsonrpc: "2.0", ...call })));
    }
  });

  it("params of the wrong type in a call without an id are refused in the same way", async () => {
    for (const params of [[1], "x", 5]) {
      expectRefusal(await post(JSON.stringify({ jsonrpc: "2.0", method: dialect.get, params })));
    }
  });

  it("a batch is an invalid request with the id null", async () => {
    const one = { jsonrpc: "2.0", id: 1, method: dialect.get, params: { id: "x" } };
    for (const batch of [[], [one], [one, { ...one, id: 2 }], [1, 2, 3]]) {
      const { body } = await post(JSON.stringify(batch), dialect.version);
      const reply = JSON.parse(body) as Loose;
      expect(reply).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32600 } });
    }
  });

  it.each(["1.0", 2, null, "2", "", true, undefined, [], "2.0 "])(
    "B-V11: jsonrpc %j is an invalid request",
    async jsonrpc => {
      const { body } = await post(JSON.stringify({ jsonrpc, id: 4, method: dialect.list, params: {} }));
      const reply = JSON.parse(body) as Loose;
      expect(reply).toMatchObject({ jsonrpc: "2.0", id: 4, error: { code: -32600 } });
      expect(reply.error.message).toContain("jsonrpc");
    },
  );

  it.each([undefined, null, 5, "", {}, [], true])(
    "B-V11: the method %j is an invalid request",
    async method => {
      const { body } = await post(JSON.stringify({ jsonrpc: "2.0", id: 4, method, params: {} }));
      const reply = JSON.parse(body) as Loose;
      expect(reply).toMatchObject({ id: 4, error: { code: -32600 } });
      expect(reply.error.message).toContain("method");
    },
  );

  it.each(["x", 5, true, [], [{}]])(
    "B-V11: the params %j are invalid: they must be an object",
    async params => {
      const { body } = await post(JSON.stringify({ jsonrpc: "2.0", id: 4, method: dialect.list, params }));
      const reply = JSON.parse(body) as Loose;
      expect(reply).toMatchObject({ id: 4, error: { code: -32602 } });
      expect(reply.error.message).toContain("params");
    },
  );

  it("B-V11: missing params are invalid, except for the extended card", async () => {
    const { send, stream, get, cancel, list } = dialect;
    // v0.3 has no list method of its own.
    for (const method of [send, stream, get, cancel, ...(dialect === V1 ? [list] : [])])
      for (const more of [{}, { params: null }]) {
        const { body } = await post(JSON.stringify({ jsonrpc: "2.0", id: 4, method, ...more }));
        expect([method, (JSON.parse(body) as Loose).error?.code]).toEqual([method, -32602]);
      }
    const { body } = await post(JSON.stringify({ jsonrpc: "2.0", id: 4, method: dialect.extendedCard }));
    expect((JSON.parse(body) as Loose).error.code).toBe(-32004);
  });

  it.each(["", "{", "nonsense", '{"jsonrpc":"2.0",}', "[1,", "'x'", "NaN", '{"a":1}{"b":2}', "\u0000"])(
    "B-V11: %j cannot be parsed: -32700 with the id null",
    async text => {
      const { body } = await post(text, dialect.version);
      expect(JSON.parse(body)).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32700 } });
    },
  );

  it.each(["null", "5", '"text"', "true", "{}", '{"id":1}'])(
    "B-V11: %s is JSON but no call: -32600",
    async text => {
      const { body } = await post(text, dialect.version);
      expect(JSON.parse(body)).toMatchObject({ jsonrpc: "2.0", error: { code: -32600 } });
    },
  );

  it.each([
    ["true", "true"],
    ["an object", '{"a":1}'],
    ["an array", "[1]"],
    ["1e400", "1e400"],
    ["-1e400", "-1e400"],
    ["257 letters", `"${"x".repeat(257)}"`],
    ["300 decimal places", `0.${"1".repeat(300)}`],
    ["half a surrogate pair", '"\\ud800"'],
  ])("an id that is %s is an invalid request with the id null", async (_, id) => {
    const { body } = await post(`{"jsonrpc":"2.0","id":${id},"method":"${dialect.list}","params":{}}`);
    expect(JSON.parse(body)).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32600 } });
  });
});

it("B-V11: an invalid envelope is refused in the dialect of the version header", async () => {
  const v1 = JSON.parse((await post("[]", "1.0")).body) as Loose;
  const v03 = JSON.parse((await post("[]", "0.3")).body) as Loose;
  const none = JSON.parse((await post("[]", "")).body) as Loose;
  expect(v1.error.data[0]["@type"]).toMatch(/ErrorInfo$/);
  expect([v03.error.data, none.error.data]).toEqual([undefined, undefined]);
});

it("R4: params of the wrong type are refused in the dialect of the method if no version is named", async () => {
  const refusal = async (method: string) =>
    JSON.parse((await post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: 5 }), "")).body) as Loose;
  expect((await refusal(V1.send)).error.data).toEqual(expect.any(Array));
  expect((await refusal(V03.send)).error.data).toBeUndefined();
});
