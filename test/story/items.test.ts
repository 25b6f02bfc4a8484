import { afterAll, afterEach, expect, test } from "vitest";
import { agent } from "../../src/agent/definition.ts";
import type { Json } from "../../src/lib/json.ts";
import { serveGuarded } from "../support/callers.ts";
import { rpcResult, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** The long-term memory of callers, used by agents. */

let server: Pick<TestServer, "url" | "stop"> | undefined;
const folder = tempFolder();
afterEach(async () => {
  await server?.stop();
  server = undefined;
});
afterAll(() => folder.remove());

const keeper = agent({
  name: "keeper",
  async run(task, ctx) {
    const [verb, key = "", ...words] = task.text.split(" ");
    if (verb === "keep") await ctx.items.put(["notes"], key, { text: words.join(" ") });
    const found = verb === "find" ? await ctx.items.search(["notes"], { query: key }) : [];
    const item = await ctx.items.get(["notes"], key);
    return ctx.data({ item: (item?.value ?? null) as Json, found: found.map(one => one.key) });
  },
});
const reader = agent({ ...keeper, name: "reader" });

async function ask(agentName: string, text: string, headers: Record<string, string> = {}): Promise<unknown> {
  const url = `${server?.url}/agents/${agentName}`;
  const task = V1.taskIn(await rpcResult(url, "SendMessage", V1.sendParams(text), headers));
  return task.artifacts[0].parts[0].data;
}

test("values outlive contexts, are shared by agents, and survive a restart", async () => {
  server = await serve([keeper, reader], { data: folder.path });
  await ask("keeper", "keep first hello");
  expect(await ask("reader", "get first")).toEqual({ item: { text: "hello" }, found: [] });
  await server.stop();
  server = await serve([keeper, reader], { data: folder.path });
  expect(await ask("reader", "get first")).toMatchObject({ item: { text: "hello" } });
});

test("each caller has its own", async () => {
  const guarded = await serveGuarded([keeper]);
  server = guarded;
  const alice = await guarded.issue("alice", { tenants: ["acme"] });
  const others = [
    await guarded.issue("bob", { tenants: ["acme"] }),
    await guarded.issue("alice", { tenants: ["beta"] }),
  ];
  await ask("keeper", "keep mine hello", alice.headers);
  expect(await ask("keeper", "get mine", alice.headers)).toMatchObject({ item: { text: "hello" } });
  for (const { headers } of others) {
    expect(await ask("keeper", "get mine", headers)).toEqual({ item: null, found: [] });
    expect(await ask("keeper", "find hello", headers)).toEqual({ item: null, found: [] });
  }
});

test("an embedding function of the config lets agents search by meaning", async () => {
  const embed = async (texts: readonly string[]) =>
    texts.map(text => [text.includes("cat") ? 1 : 0, text.includes("car") ? 1 : 0, 0.1]);
  server = await serve([keeper], { items: { embed, dims: 3, fields: ["text"] } });
  await ask("keeper", "keep one a cat");
  await ask("keeper", "keep two a car");
  expect(await ask("keeper", "find car")).toMatchObject({ found: ["two", "one"] });
  expect(await ask("keeper", "find cat")).toMatchObject({ found: ["one", "two"] });
});
