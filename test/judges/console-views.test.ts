import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Child, startChild } from "../support/child.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import {
  CONSOLE_AGENTS,
  CONSOLE_VIEWS,
  hasBrowser,
  launchBrowser,
  openConsole,
  say,
  violationsOn,
} from "../support/console.ts";
import { stateOf, taskOf } from "../support/wire.ts";

const SCRIPT_BYTES_MAX = 90_000;

describe.skipIf(!hasBrowser)("every view of the console", () => {
  const folder = mkdtempSync(join(tmpdir(), "console-views-"));
  let server: Child;
  let browser: Browser;
  let task = "";

  const run = async (agent: string, text: string): Promise<string> => {
    const url = `${server.url}/agents/${agent}`;
    const configuration = { returnImmediately: true };
    const { id } = taskOf((await rpc(url, "SendMessage", { ...sendParams(text), configuration })).body);
    const isSettled = async (): Promise<boolean> =>
      /completed|failed|required|rejected/i.test(stateOf((await rpc(url, "GetTask", { id })).body) ?? "");
    await until(isSettled);
    return id;
  };

  beforeAll(async () => {
    const flags = ["--durability", "process", "--log-level", "warn", "--drain-ms", "0"];
    server = await startChild({ agents: [CONSOLE_AGENTS], data: join(folder, "data"), flags });
    browser = await launchBrowser();
    await run("failing", "fails");
    await run("asker", "several");
    await run("asker", "token");
    await run("files", "all");
    task = await run("words", "5 words");
  });
  afterAll(async () => {
    await browser?.close();
    await server?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ["light", false],
    ["dark", false],
    ["light", true],
    ["dark", true],
  ] as const)(
    "has no accessibility violations (%s, phone: %s)",
    async (theme, isPhone) => {
      const { page, context, complaints, foreign, open } = await openConsole(browser, server.url, {
        theme,
        isPhone,
      });
      const found: string[] = [];
      for (const view of [...CONSOLE_VIEWS, `tasks/${task}`]) {
        await open(view);
        await page.locator("main h1:visible, main h2:visible").first().waitFor();
        await expect.poll(() => page.locator(".bones").count()).toBe(0);
        found.push(...(await violationsOn(page)).map(line => `${view}: ${line}`));
        const isTooWide = await page.evaluate<boolean>(
          "document.documentElement.scrollWidth > innerWidth + 1",
        );
        if (isTooWide) found.push(`${view}: the page is wider than the window`);
      }
      expect(found).toEqual([]);
      expect(complaints).toEqual([]);
      expect(foreign).toEqual([]);
      await context.close();
      // Fifteen pages with axe: the limit only ends a test that hangs.
    },
    900_000,
  );

  it("treats the output of agents as hostile", async () => {
    const { page, context, complaints, foreign, open } = await openConsole(browser, server.url);
    await open("chat?agent=hostile");
    await say(page, "go");
    await page.locator(".said-foot").waitFor();
    const id = await run("hostile", "again");
    for (const view of [`tasks/${id}`, "tasks", "agents/hostile", "chat"]) {
      await open(view);
      await page.locator("main h1, main h2, .ctx").first().waitFor();
    }
    await open("chat?agent=hostile");
    await page.locator(".ctx", { hasText: "go" }).first().click();
    await page.locator(".said-foot").waitFor();
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(
      await page
        .locator(
          ".said-main script, .said-main style, .said-main iframe, .said-main form, .said-main [onerror], .said-main [onclick], .said-main [style*=fixed]",
        )
        .count(),
    ).toBe(0);
    expect(await page.locator(".said-main a[href^='javascript'], .said-main a[href^='data']").count()).toBe(
      0,
    );
    expect(await page.locator("body").isVisible()).toBe(true);
    expect(await page.locator(".said-main").first().innerText()).toContain("⟨202E⟩");
    expect(foreign).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it("works on a slow network, below 90 kB of script for the first page", async () => {
    const { page, context, open } = await openConsole(browser, server.url);
    const scripts: Promise<Buffer>[] = [];
    page.on("response", response => {
      if (/\/assets\/.*\.js$/.test(response.url())) scripts.push(response.body());
    });
    const session = await context.newCDPSession(page);
    await session.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 400,
      downloadThroughput: 50_000,
      uploadThroughput: 20_000,
    });
    await open("chat?agent=words");
    await page.locator(".composer textarea").waitFor();
    const bytes = (await Promise.all(scripts)).reduce((sum, script) => sum + gzipSync(script).length, 0);
    process.stderr.write(`first page: ${bytes} bytes of script, gzip, in ${scripts.length} files\n`);
    expect(scripts.length).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(SCRIPT_BYTES_MAX);
    await say(page, "3 words");
    await page.locator(".said-main .prose", { hasText: "word1 word2 word3" }).waitFor();
    await context.close();
  });

  it("is built without inline scripts and styles", async () => {
    const html = await (await fetch(`${server.url}/console/`)).text();
    expect(html).not.toMatch(/<style|<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=/);
  });
});

describe.skipIf(!hasBrowser)("the console of a server with tokens", () => {
  it("asks for a token, and says that one is not valid", async () => {
    const folder = mkdtempSync(join(tmpdir(), "console-token-"));
    const flags = ["--auth", "tokens", "--durability", "process", "--drain-ms", "0", "--log-level", "warn"];
    const server = await startChild({ agents: [CONSOLE_AGENTS], data: join(folder, "data"), flags });
    const browser = await launchBrowser();
    const { page, open } = await openConsole(browser, server.url);
    await open("chat?agent=words");
    await page.getByLabel("Bearer token").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByText("The token has expired or is not valid").waitFor();
    await browser.close();
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  });
});
