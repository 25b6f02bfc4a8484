import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { adminEvents, adminGet } from "../support/admin-client.ts";
import { type Child, startChild } from "../support/child.ts";
import { rpc, sendParams } from "../support/client.ts";
import { CONSOLE_AGENTS, hasBrowser, launchBrowser, openConsole } from "../support/console.ts";
import type { Loose } from "../support/official-dialects.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";

/** Three nodes on one Postgres: the console of any of them shows the work of all. */
describe("the admin API of several nodes", () => {
  let postgres: TestPostgres;
  let nodes: readonly Child[] = [];
  const abort = new AbortController();

  beforeAll(async () => {
    postgres = await startPostgres();
    const data = await postgres.createDatabase();
    const flags = ["--log-level", "error", "--drain-ms", "0"];
    const start = (): Promise<Child> => startChild({ agents: [CONSOLE_AGENTS], data, flags });
    nodes = [await start(), ...(await Promise.all([start(), start()]))];
  });
  afterEach(() => abort.abort());
  afterAll(async () => {
    await Promise.all(nodes.map(node => node.kill()));
    await postgres?.stop();
  });

  const send = async (node: Child, agent: string, text: string): Promise<Loose> => {
    const params = { ...sendParams(text), configuration: { returnImmediately: true } };
    return ((await rpc(`${node.url}/agents/${agent}`, "SendMessage", params)).body as Loose).result.task;
  };
  const [A, B, C] = [0, 1, 2].map(at => (): Child => nodes[at] as Child) as [
    () => Child,
    () => Child,
    () => Child,
  ];

  it("a live feed has the tasks of all nodes, in every state, and each list is the same", async () => {
    const feed = adminEvents(A().url, "/tasks/changes", abort.signal);
    expect((await feed.next()).value).toMatchObject({ event: "ready" });
    const sent = [
      await send(A(), "words", "3 words"),
      await send(B(), "words", "4 words"),
      await send(C(), "asker", "one"),
      await send(B(), "failing", "fail"),
    ];
    const wanted = new Set(
      ["completed", "completed", "input-required", "failed"].map((state, i) => `${sent[i].id} ${state}`),
    );
    for await (const { event, data } of feed) {
      if (event === "task") wanted.delete(`${data.id} ${data.state}`);
      if (wanted.size === 0) break;
    }
    const lists = await Promise.all(nodes.map(node => adminGet(node.url, "/tasks")));
    for (const { json } of lists)
      expect(json.tasks.map((row: Loose) => row.id)).toEqual(sent.map(task => task.id).toReversed());
    for (const node of nodes) {
      expect((await adminGet(node.url, "/inbox")).json.total).toBe(1);
      const info = (await adminGet(node.url, "/server")).json;
      expect(info.nodes.length).toBe(3);
      expect(info.tasks.byState).toMatchObject({ completed: 2, failed: 1, "input-required": 1 });
      const detail = (await adminGet(node.url, `/tasks/${sent[1].id}`)).json;
      expect([detail.task.state, detail.steps.length]).toEqual(["completed", 4]);
    }
  });

  it.skipIf(!hasBrowser)("a chat on one node shows the words of a run on another", async () => {
    const browser: Browser = await launchBrowser();
    const { page, context, complaints, open } = await openConsole(browser, A().url);
    await open("tasks");
    await page.locator(".conn", { hasText: "Live" }).waitFor();
    await page.locator("tr[data-id]").first().waitFor();
    const { id } = await send(B(), "words", "40 words");
    await page.locator(".fresh", { hasText: "newer task" }).getByRole("button", { name: "Show" }).click();
    await page.locator(`tr[data-id="${id}"]`).waitFor();
    await page.locator(`tr[data-id="${id}"] a`).click();
    await page.locator(".tl-row", { hasText: "word 3" }).first().waitFor();
    await page.locator(".task-title", { hasText: "Completed" }).waitFor();
    await open("server?tab=nodes");
    await expect.poll(() => page.locator("tbody tr").count()).toBe(3);
    expect(complaints).toEqual([]);
    await context.close();
    await browser.close();
  });
});
