import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminGet } from "../support/admin-client.ts";
import { type Child, startChild } from "../support/child.ts";
import { type ConsolePage, hasBrowser, launchBrowser, openConsole } from "../support/console.ts";
import { fillTasks } from "../support/fill-tasks.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";

const TOTAL = 100_000;
const MANY_AGENTS = new URL("../fixtures/console/many.ts", import.meta.url).pathname;
/** Rows of the table that exist at the same time: those on the screen, and some above and below. */
const ROWS_MAX = 150;

describe.skipIf(!hasBrowser).each(["SQLite", "Postgres"])("100,000 tasks on %s", store => {
  const folder = mkdtempSync(join(tmpdir(), "console-many-"));
  let postgres: TestPostgres | undefined;
  let server: Child;
  let browser: Browser;
  let one: ConsolePage;

  beforeAll(async () => {
    postgres = store === "Postgres" ? await startPostgres() : undefined;
    const data = postgres ? await postgres.createDatabase() : join(folder, "data");
    const flags = ["--durability", "process", "--drain-ms", "0", "--log-level", "error"];
    server = await startChild({ agents: [MANY_AGENTS], data, flags });
    await fillTasks(server.url, TOTAL);
    browser = await launchBrowser();
    one = await openConsole(browser, server.url);
  }, 600_000);
  afterAll(async () => {
    expect(one?.complaints).toEqual([]);
    await browser?.close();
    await server?.kill();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Milliseconds of some work: told, never compared. */
  const measure = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    const start = performance.now();
    await work();
    process.stderr.write(`${store}, 100,000 tasks: ${what} in ${Math.round(performance.now() - start)} ms\n`);
  };

  it("are shown, counted, and paged by scrolling, with few rows in the page", async () => {
    const { page } = one;
    await measure("the first page was shown", async () => {
      await one.open("tasks");
      await page.locator("tr[data-id]").first().waitFor();
    });
    await page.locator(".page-head .lead", { hasText: "100,000 tasks of 3 agents" }).waitFor();
    await measure("2,000 rows were read by scrolling", async () => {
      for (let loaded = 100; loaded < 2_000; loaded += 100) {
        await page.evaluate("scrollTo(0, document.body.scrollHeight)");
        await expect
          .poll(async () => toNumber(await page.locator(".pager").innerText()))
          .toBeGreaterThan(loaded);
      }
    });
    expect(await page.locator("tr[data-id]").count()).toBeLessThan(ROWS_MAX);
  });

  it("are filtered by state, agent and time, and the address keeps the filters", async () => {
    const { page } = one;
    await measure("failed tasks of one agent were shown", async () => {
      await one.open("tasks?agent=bert&state=failed&since=24h");
      await page.locator("tr[data-id]").first().waitFor();
    });
    const states = await page.locator("tr[data-id] .st").allInnerTexts();
    expect(new Set(states.map(text => text.trim()))).toEqual(new Set(["Failed"]));
    await page.reload();
    await page.locator("tr[data-id]", { hasText: "bert" }).first().waitFor();
    await one.open("tasks?state=canceled");
    await page.getByText("No task matches", { exact: true }).waitFor();
  });

  it("are searched to the oldest one, in steps", async () => {
    const { page } = one;
    await measure("the oldest task was found by its text", async () => {
      await one.open("tasks?text=number+11.");
      const found = page.locator("tr[data-id]", { hasText: "number 11." });
      const further = page.getByRole("button", { name: /Search older tasks|Load more/ });
      while ((await found.count()) === 0) {
        await found.or(further).first().waitFor();
        if ((await found.count()) === 0) await further.click().catch(() => {});
      }
    });
  });

  it("every list of the admin API answers", async () => {
    for (const path of [
      "/contexts?text=number+99",
      "/inbox",
      "/tasks/counts",
      "/agents",
      "/server",
      "/tasks?crashed=true",
    ])
      await measure(path, async () => expect((await adminGet(server.url, path)).status).toBe(200));
  });
});

const toNumber = (text: string): number => Number(/[\d,]+/.exec(text)?.[0].replaceAll(",", "") ?? 0);
