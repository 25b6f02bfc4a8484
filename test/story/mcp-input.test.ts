import { afterEach, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { rpc, said } from "../support/client.ts";
import { startPostgres } from "../support/postgres.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import { textOf } from "../support/wire.ts";

/** `/mcp` takes what the dialects take and refuses what they refuse, and a refused call harms no other call. */

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

type Place = "SQLite" | "Postgres";

async function start(place: Place = "SQLite"): Promise<void> {
  server = await serve([worker], { mcp: true, data: await placeFor(place) });
  ends.push(() => server.stop());
}

async function placeFor(place: Place): Promise<string> {
  if (place === "Postgres") {
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

/** As the official client would call, but with any text for the arguments. */
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

describe("what no dialect takes is refused as invalid params, and the field is named", () => {
  it.each(["SQLite", "Postgres"] as const)("each of them, and nothing is recorded (%s)", async place => {
    await start(place);
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

  it("what the dialects take is taken: NUL and line ends in words, data as deep as it may be", async () => {
    await start();
    const { text } = await callTool("worker", `{"message":"a\\u0000b\\r\\nc","data":${nested(64)}}`);
    expect(text).toContain("heard a\\u0000b\\r\\nc");
    expect(text).not.toContain('"isError":true');
  });
});

it("callers whose calls come at the same time as such calls get their answers, and the server stays ready", async () => {
  await start();
  const deep = `{"data":${nested(8_000)}}`;
  for (let round = 0; round < 20; round++) {
    const attack = Array.from({ length: 3 }, () => callTool("worker", deep));
    const honest = Array.from({ length: 12 }, (_, i) =>
      rpc(server.url, "SendMessage", said(`${round}/${i}`)),
    );
    expect((await Promise.all(honest)).map(({ body }) => textOf(body))).toEqual(
      Array.from({ length: 12 }, (_, i) => `heard ${round}/${i}`),
    );
    await Promise.all(attack);
  }
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect((await rpc(server.url, "ListTasks", {})).body.result.totalSize).toBe(240);
});
