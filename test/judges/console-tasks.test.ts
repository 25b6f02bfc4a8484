import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Child, startChild } from "../support/child.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import {
  CONSOLE_AGENTS,
  type ConsolePage,
  hasBrowser,
  launchBrowser,
  openConsole,
} from "../support/console.ts";
import { stateOf, taskOf } from "../support/wire.ts";

/** The longest time between two frames of three seconds. */
const LONGEST_FRAME = `new Promise(resolve => {
  let last = performance.now();
  let longest = 0;
  const end = last + 3000;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (now < end) requestAnimationFrame(tick);
    else resolve(longest);
  };
  requestAnimationFrame(tick);
})`;
const AT_ONCE = { configuration: { returnImmediately: true } };

describe.skipIf(!hasBrowser)("tasks in the console", () => {
  const folder = mkdtempSync(join(tmpdir(), "console-tasks-"));
  let server: Child;
  let browser: Browser;
  let one: ConsolePage;
  let page: Page;

  const begin = async (agent: string, text: string): Promise<string> =>
    taskOf(
      (await rpc(`${server.url}/agents/${agent}`, "SendMessage", { ...sendParams(text), ...AT_ONCE })).body,
    ).id;
  const settled = (agent: string, id: string): Promise<void> =>
    until(async () =>
      /completed|failed|required|rejected|canceled/.test(
        stateOf((await rpc(`${server.url}/agents/${agent}`, "GetTask", { id })).body) ?? "",
      ),
    );
  const run = async (agent: string, text: string): Promise<string> => {
    const id = await begin(agent, text);
    await settled(agent, id);
    return id;
  };

  beforeAll(async () => {
    server = await startChild({
      agents: [CONSOLE_AGENTS],
      data: join(folder, "data"),
      flags: [
        "--durability",
        "process",
        "--log-level",
        "warn",
        "--drain-ms",
        "0",
        "--push-allow-loopback",
        "--push-http",
      ],
    });
    browser = await launchBrowser();
    one = await openConsole(browser, server.url);
    page = one.page;
  });
  afterAll(async () => {
    expect(one.complaints).toEqual([]);
    expect(one.foreign).toEqual([]);
    await browser?.close();
    await server?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it("lists tasks of all agents, changes with them, and holds still while the user reads", async () => {
    await run("words", "2 words");
    await run("failing", "this fails");
    await one.open("tasks");
    await page.locator("tr", { hasText: "this fails" }).getByText("Failed", { exact: true }).waitFor();
    // A task from before the feed is in the list at once.
    await page.locator(".conn", { hasText: "Live" }).waitFor();
    const id = await begin("words", "20 words");
    await page.getByText("1 newer task").waitFor();
    expect(await page.locator(`tr[data-id="${id}"]`).count()).toBe(0);
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.locator(`tr[data-id="${id}"]`).getByText("Completed").waitFor();
  });

  it("keeps filters in the URL", async () => {
    await page.getByRole("button", { name: /^Failed: / }).click();
    await page.waitForURL(/state=failed/);
    await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
    await page.reload();
    await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
    await one.open("tasks");
    await page.getByLabel("Search tasks").fill("agent:words 20 words");
    await page.waitForURL(/agent=words/);
    await page.waitForURL(/text=20(\+|%20)words/);
    await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
    await one.open("tasks?text=nothing-has-this");
    await page.getByText("No task matches").waitFor();
  });

  it("opens a task with the keyboard alone", async () => {
    await one.open("tasks");
    await page.locator("tbody tr").nth(1).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toMatch(/tasks\/[\w-]{20,}/);
    await page.locator(".tl-row.lv1").first().waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.waitForURL(/\/agents$/);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("deliveries");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/deliveries$/);
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
  });

  it("shows the timeline, the events and two dialects of a task, and resumes from an event", async () => {
    const id = await run("words", "3 words");
    await one.open(`tasks/${id}`);
    await page.locator(".tl-row", { hasText: "word 2" }).click();
    await page.waitForURL(/event=\d+/);
    await page.locator(".inspect", { hasText: "A recorded step" }).waitFor();
    await page.getByRole("button", { name: "Resume here" }).click();
    await page.locator(".inspect .evs", { hasText: "completed" }).waitFor();
    await page.locator(".ev-table tr", { hasText: "artifact" }).first().click();
    const columns = page.locator(".dialects .col");
    await columns.nth(0).getByText("artifactUpdate").waitFor();
    await columns.nth(1).getByText('"artifact-update"').waitFor();
    await columns.nth(1).getByRole("combobox").selectOption("arbiter");
    await page.waitForURL(/dialects=v1%2Carbiter/);
    await page.getByRole("tab", { name: "Whole task" }).click();
    await columns.nth(0).getByText("TASK_STATE_COMPLETED").waitFor();
  });

  it("copies a line of curl for every dialect, and exports one file without scripts", async () => {
    await page.getByRole("button", { name: "Copy as curl" }).first().click();
    await page.locator(".menu-item", { hasText: "A2A 0.3" }).first().click();
    await expect.poll(() => page.evaluate<string>("navigator.clipboard.readText()")).toContain("curl");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).click(),
    ]);
    const html = readFileSync(await download.path(), "utf8");
    expect(html).toContain("word1 word2 word3");
    expect(html).toContain("Completed");
    expect(html).not.toMatch(/<script|src=|href=/);
  });

  it("runs a task again with an edited message, and cancels it", async () => {
    await page.keyboard.press("r");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Text").fill("900 words");
    await dialog.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator(".task-title", { hasText: "900 words" }).waitFor();
    await page.locator(".tl-row", { hasText: "word 3" }).first().waitFor();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.locator(".task-title", { hasText: "Canceled" }).waitFor();
  });

  it("shows the exception of a failed task to operators, with its place", async () => {
    const id = await run("failing", "again");
    await one.open(`tasks/${id}`);
    await page.getByText("TypeError: The example threw on purpose").first().waitFor();
    await page.locator(".boom", { hasText: "fixtures/console/agents.ts" }).first().waitFor();
    await page.locator(".boom", { hasText: "a cause" }).first().waitFor();
    await one.open("tasks/no-such-task");
    await page.getByText("Task not found").waitFor();
  });

  it("answers in the inbox, the longest waiting first", async () => {
    await run("asker", "first question");
    await run("asker", "several");
    await one.open("inbox");
    await expect.poll(() => page.locator(".ask").count()).toBe(2);
    expect(await page.locator(".ask").first().innerText()).toContain("first question");
    await page.locator(".rail-badge", { hasText: "2" }).waitFor();
    await page.keyboard.press("a");
    await page.keyboard.type("green");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".ask").count()).toBe(1);
    await page.getByLabel("Aisle or window?").fill("aisle");
    await page.getByLabel("Fish or soup?").fill("fish");
    await page.getByRole("button", { name: "Send the answers" }).click();
    await page.getByText("No task waits for a person").waitFor();
    await expect.poll(() => page.locator(".rail-badge").count()).toBe(0);
  });

  it("obeys its keys while a task writes a thousand events per second, and loses none of them", async () => {
    await one.open("chat?agent=flood");
    const field = page.locator(".composer textarea");
    await field.fill("120 seconds");
    await field.press("Enter");
    await page.getByText("500", { exact: false }).first().waitFor();
    const worst = await page.evaluate<number>(LONGEST_FRAME);
    process.stderr.write(`1,000 events per second: the longest frame took ${Math.round(worst)} ms\n`);
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("A command, an agent, a task, words").waitFor();
    await page.keyboard.press("Escape");
    await field.press("Escape");
    // Canceled, not completed: the page responded in the middle of the flood.
    await page.locator(".said-foot", { hasText: "Canceled" }).waitFor();
    const numbers = (await page.locator(".said-main .prose").last().innerText())
      .trim()
      .split(/\s+/)
      .map(Number);
    expect(numbers.length).toBeGreaterThan(500);
    expect(numbers.every((number, at) => number === at)).toBe(true);
  });

  it("shows a task of 100,000 events, and any of them", async () => {
    const id = await run("long", "100000 events");
    await one.open(`tasks/${id}`);
    await page.locator(".events .count", { hasText: /100,00\d/ }).waitFor();
    await page.getByLabel("Go to an event by its number").fill("99990");
    await page.keyboard.press("Enter");
    await page.locator(".ev-table tr[aria-selected=true]", { hasText: "99990" }).waitFor();
    await page.locator(".dialects .col").first().getByText("artifactUpdate").waitFor();
    const start = performance.now();
    await page.evaluate(`{
      const box = document.querySelector(".ev-scroll");
      box.scrollTo({ top: box.scrollHeight / 2 });
    }`);
    await page.locator(".ev-table td.type", { hasText: "artifact" }).first().waitFor();
    process.stderr.write(
      `100,000 events: the middle was shown in ${Math.round(performance.now() - start)} ms\n`,
    );
    expect(await page.locator(".ev-table tr").count()).toBeLessThan(100);
    await page.getByRole("link", { name: "Open in chat" }).click();
    await page.locator(".said-foot", { hasText: "Completed" }).waitFor();
  });
});
