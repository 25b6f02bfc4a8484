import { afterEach, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { rpc, sendParams } from "../support/client.ts";
import { startPostgres } from "../support/postgres.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import { textOf } from "../support/wire.ts";

/** `/mcp` accepts and refuses the same input as the dialects, and a refused call affects no other call. */

let server: TestServer;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const worker: AgentDefinition = {
  name: "worker",
  async *run(task, ctx) {
    if (task.text === "ask") return yield ctx.ask("Which one?");
    yield ctx.text(`heard ${task.text}`);
  },
};

type StoreKind = "SQLite" | "Postgres";

async function start(store: StoreKind = "SQLite"): Promise<void> {
  server = await serve([worker], { mcp: true, data: await dataFor(store) });
  ends.push(() => server.stop());
}

async function dataFor(store: StoreKind): Promise<string> {
  if (store === "Postgres") {
    const postgres = await startPostgres();
    ends.push(() => postgres.stop());
    return postgres.createDatabase();
  }
  const folder = tempFolder();
  ends.push(folder.remove);
  return folder.path;
}

interface Told {
  readonly status: number;
  readonly text: string;
}

/** Calls like the official client, but with any text as the arguments. */
async function callTool(name: string, input: string): Promise<Told> {
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${JSON.stringify(name)},"arguments":${input}}}`;
  const reply = await fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body,
  });
  return { status: reply.status, text: await reply.text() };
}

const nested = (depth: number, open = '{"1":', close = "}"): string =>
  `${open.repeat(depth)}1${close.repeat(depth)}`;
const NUL = '"a\\u0000b"';
const CRLF = '"a\\r\\nb"';
const HALF = '"a\\ud800"';
const LONG = JSON.stringify("x".repeat(1_000));

const WRONG: readonly (readonly [what: string, tool: string, input: string, field: string])[] = [
  ["data 8,000 deep", "worker", `{"data":${nested(8_000)}}`, "data"],
  ["data 65 deep", "worker", `{"data":${nested(65)}}`, "data"],
  ["data of lists, 300,000 deep", "worker", `{"data":${nested(300_000, "[", "]")}}`, "data"],
  ["data with half a surrogate pair", "worker", `{"data":{"a":${HALF}}}`, "data"],
  ["data with such a name", "worker", `{"data":{${HALF}:1}}`, "data"],
  ["data with a number that is too large", "worker", '{"data":{"a":1e999}}', "data"],
  ["a message with half a surrogate pair", "worker", `{"message":${HALF}}`, "message"],
  ["a message that is no text", "worker", '{"message":5}', "message"],
  ["a task with NUL", "worker", `{"message":"x","task":${NUL}}`, "task"],
  ["a task with CRLF", "worker", `{"message":"x","task":${CRLF}}`, "task"],
  ["a task with half a surrogate pair", "worker", `{"message":"x","task":${HALF}}`, "task"],
  ["a task that is too long", "worker", `{"message":"x","task":${LONG}}`, "task"],
  ["a task that is no text", "worker", '{"message":"x","task":{}}', "task"],
  ["a context with NUL", "worker", `{"message":"x","context":${NUL}}`, "context"],
  ["a context with CRLF", "worker", `{"message":"x","context":${CRLF}}`, "context"],
  ["a context with half a surrogate pair", "worker", `{"message":"x","context":${HALF}}`, "context"],
  ["a context that is too long", "worker", `{"message":"x","context":${LONG}}`, "context"],
  ["get_task with NUL", "get_task", `{"task":${NUL}}`, "task"],
  ["get_task with CRLF", "get_task", `{"task":${CRLF}}`, "task"],
  ["cancel_task with NUL", "cancel_task", `{"task":${NUL}}`, "task"],
  ["cancel_task that is no text", "cancel_task", '{"task":["x"]}', "task"],
];

describe("input that no dialect accepts is refused as invalid params, and the error names the field", () => {
  it.each(["SQLite", "Postgres"] as const)("each of them, and nothing is recorded (%s)", async store => {
    await start(store);
    for (const [what, tool, input, field] of WRONG) {
      const { status, text } = await callTool(tool, input);
      expect([what, status], text.slice(0, 300)).toEqual([what, 200]);
      expect(text, what).toContain(`Invalid params: ${field} `);
      expect(text, what).toContain('"isError":true');
      expect(text, what).not.toMatch(/stack|encoding|byte sequence|syntax|database|sqlite/i);
    }
    const { body } = await rpc(server.url, "ListTasks", {});
    expect(body.result.totalSize).toBe(0);
    expect(server.log.lines.filter(line => line.level === "error")).toEqual([]);
  });

  it("arguments that are no object are refused, too", async () => {
    await start();
    for (const input of ["[]", '"x"', "5"]) {
      const { text } = await callTool("worker", input);
      expect(text, input).toMatch(/-32602|"isError":true/);
    }
  });

  it("input that the dialects accept is accepted: NUL and line ends in text, data up to the maximum depth", async () => {
    await start();
    const { text } = await callTool("worker", `{"message":"a\\u0000b\\r\\nc","data":${nested(64)}}`);
    expect(text).toContain("heard a\\u0000b\\r\\nc");
    expect(text).not.toContain('"isError":true');
  });
});

it("concurrent calls of other callers are answered, and the server stays ready", async () => {
  await start();
  const deep = `{"data":${nested(8_000)}}`;
  for (let round = 0; round < 20; round++) {
    const invalid = Array.from({ length: 3 }, () => callTool("worker", deep));
    const valid = Array.from({ length: 12 }, (_, i) =>
      rpc(server.url, "SendMessage", sendParams(`${round}/${i}`)),
    );
    expect((await Promise.all(valid)).map(({ body }) => textOf(body))).toEqual(
      Array.from({ length: 12 }, (_, i) => `heard ${round}/${i}`),
    );
    await Promise.all(invalid);
  }
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect((await rpc(server.url, "ListTasks", {})).body.result.totalSize).toBe(240);
});
