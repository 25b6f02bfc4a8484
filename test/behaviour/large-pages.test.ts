import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/model/index.ts";
import { echo } from "../support/agents.ts";
import { rpc } from "../support/client.ts";
import { type Loose, rpcResult, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** A page of a list is bounded by bytes in every dialect that lists, however large the tasks are. */

const folder = tempFolder();
afterAll(() => folder.remove());

const TASKS = 8;
const TEXT = "y".repeat(LIMITS.pageBytesMax / 2);
/** Bytes that the envelope and the escapes of the largest page may add. */
const PAGE_CHARS_MAX = LIMITS.pageBytesMax * 1.2;

/** The URL and the body of a list call. */
const LIST_CALLS: readonly (readonly [string, string, string])[] = [
  ["v1", "", "ListTasks"],
  ["v0.3", "", "tasks/list"],
  ["LangGraph", "/a2a/talker", "tasks/list"],
];

describe.each([
  ["memory", ":memory:"],
  ["SQLite", folder.path],
])("on %s", (_, data) => {
  let server: TestServer;
  const ids: string[] = [];

  beforeAll(async () => {
    server = await serve([{ ...echo, name: "talker", run: async () => "done" }], { data });
    for (let i = 0; i < TASKS; i++)
      ids.push((await rpcResult(server.url, "SendMessage", V1.sendParams(TEXT))).task.id as string);
  }, 60_000);
  afterAll(() => server.stop());

  it.each(LIST_CALLS)(
    "%s: all tasks, each once, over pages within the limit",
    async (_name, path, method) => {
      const seen: string[] = [];
      let pages = 0;
      for (let pageToken = ""; ; pages++) {
        const reply = await rpc(server.url + path, method, {
          pageSize: 100,
          ...(pageToken && { pageToken }),
        });
        const { tasks, nextPageToken, totalSize } = reply.body.result as Loose;
        expect(JSON.stringify(reply.body).length).toBeLessThan(PAGE_CHARS_MAX);
        expect(totalSize).toBe(TASKS);
        expect(tasks.length).toBeGreaterThan(0);
        seen.push(...tasks.map((task: Loose) => task.id));
        pageToken = nextPageToken;
        if (pageToken === "") break;
      }
      expect(seen).toEqual(ids.toReversed());
      expect(pages).toBeGreaterThanOrEqual(TASKS / 2 - 1);
    },
  );

  it("REST: all tasks, each once, over pages within the limit", async () => {
    const seen: string[] = [];
    for (let pageToken = ""; ; ) {
      const reply = await fetch(`${server.url}/tasks?pageSize=100&pageToken=${pageToken}`, {
        headers: { "a2a-version": "1.0" },
      });
      const text = await reply.text();
      expect(text.length).toBeLessThan(PAGE_CHARS_MAX);
      const { tasks, nextPageToken } = JSON.parse(text) as Loose;
      seen.push(...tasks.map((task: Loose) => task.id));
      pageToken = nextPageToken;
      if (pageToken === "") break;
    }
    expect(seen).toEqual(ids.toReversed());
  });

  it("simple_a2a, which has no pages: the newest, as many as fit", async () => {
    const { body } = await rpc(server.url, "tasks/list", {});
    expect(JSON.stringify(body).length).toBeLessThan(PAGE_CHARS_MAX);
    const list = body.result as Loose[];
    expect(list[0].id).toBe(ids.at(-1));
  });
});

it("an agent that reads a long context of large turns gets the newest of them only", async () => {
  const lengths: number[] = [];
  const server = await serve([
    {
      name: "looker",
      replies: "task",
      async run(task, ctx) {
        if (task.text !== "look") return "ok";
        const history = await ctx.history;
        lengths.push(JSON.stringify(history).length);
        return String(history.filter(message => message.role === "user").length);
      },
    },
  ]);
  try {
    const contextId = "long-context";
    for (let i = 0; i < 2 * (LIMITS.historyBytesMax / TEXT.length); i++)
      await rpcResult(server.url, "SendMessage", V1.sendParams(TEXT, { contextId }));
    const { task } = await rpcResult(server.url, "SendMessage", V1.sendParams("look", { contextId }));
    expect(lengths[0]).toBeLessThan(LIMITS.historyBytesMax * 1.1);
    expect(Number(task.artifacts[0].parts[0].text)).toBeGreaterThanOrEqual(3);
  } finally {
    await server.stop();
  }
}, 60_000);
