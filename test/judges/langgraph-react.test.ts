import { copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Child, endChildren, startChild } from "../support/child.ts";
import { hasBrowser, launchBrowser } from "../support/console.ts";
import { tempFolder } from "../support/server.ts";
import { installReact, startPages } from "./langgraph/page-server.ts";

/** Both generations of `useStream`, unmodified, in a browser page of another origin. */

const installed = hasBrowser ? installReact() : undefined;
const GRAPHS = new URL("./langgraph/graphs.ts", import.meta.url).pathname;
const MODULES = new URL("../../node_modules", import.meta.url).pathname;

describe.skipIf(installed === undefined)("React hooks of LangChain", () => {
  const folder = tempFolder();
  let server: Child;
  let browser: Browser;
  let pages: { readonly url: string; close(): void };
  let page: Page;
  const complaints: string[] = [];
  const start = async (port = 0): Promise<void> => {
    server = await startChild({
      agents: [join(folder.path, "langgraph.json")],
      data: join(folder.path, "data"),
      port,
    });
  };
  beforeAll(async () => {
    copyFileSync(GRAPHS, join(folder.path, "graphs.ts"));
    symlinkSync(MODULES, join(folder.path, "node_modules"));
    const names = ["chat", "approval", "both", "tools", "slow"];
    const graphs = Object.fromEntries(names.map(name => [name, `./graphs.ts:${name}`]));
    writeFileSync(join(folder.path, "langgraph.json"), JSON.stringify({ graphs }));
    await start();
    [browser, pages] = await Promise.all([launchBrowser(), startPages(installed as string)]);
  });
  afterEach(async () => {
    await page?.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    pages?.close();
    await endChildren();
    folder.remove();
  });

  async function open(name: string, assistant: string): Promise<void> {
    page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    page.on("pageerror", error => complaints.push(error.message));
    await page.goto(`${pages.url}/${name}?${new URLSearchParams({ api: server.url, assistant })}`);
  }
  const click = (label: string) => page.getByRole("button", { name: label, exact: true }).click();
  const say = async (text: string): Promise<void> => {
    await page.locator("#text").fill(text);
    await click("Send");
  };
  const messages = () => page.locator("li").allInnerTexts();
  const idle = () => page.locator('main[data-loading="false"]').waitFor();
  const answered = (text: string) => page.locator("li", { hasText: text }).last().waitFor();

  describe.each(["legacy", "modern"])("%s useStream", name => {
    it("streams an answer, a second one, and shows them after a reload", async () => {
      await open(name, "chat");
      await say("hello");
      await answered("You said hello");
      await idle();
      await say("again");
      await answered("You said again");
      await idle();
      expect(await messages()).toEqual(["hello", "You said hello", "again", "You said again"]);
      await page.reload();
      await answered("You said again");
      expect(await messages()).toEqual(["hello", "You said hello", "again", "You said again"]);
      expect(await page.locator("#error").innerText()).toBe("");
    });

    it("shows an interrupt, also after a reload, and resumes it", async () => {
      await open(name, "approval");
      await say("do it");
      const asked = page.locator("#interrupt", { hasText: "Shall I?" });
      await asked.waitFor();
      await idle();
      await page.reload();
      await asked.waitFor();
      await click("Resume");
      await answered('The answer is "yes"');
      await idle();
      expect(await page.locator("#interrupt").innerText()).toBe("");
      expect(await page.locator("#error").innerText()).toBe("");
    });

    it("stops a run", async () => {
      await open(name, "slow");
      await say("wait");
      await page.locator('main[data-loading="true"]').waitFor();
      await click("Stop");
      await idle();
    });
  });

  it("the legacy hook edits a message: a new branch from the checkpoint before it", async () => {
    await open("legacy", "chat");
    await say("first");
    await answered("You said first");
    await idle();
    await page.locator("#text").fill("second");
    await click("Edit");
    await answered("You said second");
    await page.locator('main[data-loading="false"][data-branches="2"]').waitFor();
    expect(await messages()).toEqual(["second", "You said second"]);
  });

  it("the modern hook forks from the checkpoint of a message, with the result of LangGraph's own server", async () => {
    await open("modern", "chat");
    await say("first");
    await answered("You said first");
    await idle();
    await page.locator("#text").fill("second");
    await click("Edit");
    await answered("You said second");
    await idle();
    expect(await messages()).toEqual(["first", "second", "You said second"]);
  });

  it("the modern hook answers two interrupts at once", async () => {
    await open("modern", "both");
    await click("Start");
    await page.locator("#interrupt", { hasText: "right?" }).waitFor();
    await idle();
    await click("Answer all");
    await page.locator("#values", { hasText: "right: right?" }).waitFor();
    expect(await page.locator("#values").innerText()).toContain("left: left?");
  });

  it("the modern hook shows tool calls", async () => {
    await open("modern", "tools");
    await say("1 + 2");
    await page.locator("#tools", { hasText: '["add",{"a":1,"b":2}]' }).waitFor();
    await answered("3");
  });
});
