import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Child, startChild } from "../support/child.ts";
import { CONSOLE_AGENTS, hasBrowser, launchBrowser, openConsole, say } from "../support/console.ts";
import { hasNginx, type PrefixProxy, startNginxProxy, startNodeProxy } from "../support/prefix-proxies.ts";

const PROXIES: readonly (readonly [string, boolean, (target: string) => Promise<PrefixProxy>])[] = [
  ["a proxy with a path", true, startNodeProxy],
  ["nginx, as the guide configures it", hasNginx, startNginxProxy],
];

describe.skipIf(!hasBrowser)("the console behind a proxy, below a path", () => {
  const folder = mkdtempSync(join(tmpdir(), "console-proxy-"));
  let server: Child;
  let browser: Browser;
  beforeAll(async () => {
    const flags = ["--durability", "process", "--drain-ms", "0", "--log-level", "warn", "--trust-proxy"];
    server = await startChild({ agents: [CONSOLE_AGENTS], data: join(folder, "data"), flags });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  describe.each(PROXIES)("%s", (_name, isThere, start) => {
    let proxy: PrefixProxy;
    beforeAll(async () => {
      if (isThere) proxy = await start(server.url);
    });
    afterAll(() => proxy?.close());

    it.skipIf(!isThere)("shows every view, and makes no request outside of the path", async () => {
      const { page, context, complaints, open } = await openConsole(browser, proxy.url);
      const outside: string[] = [];
      page.on("request", request => {
        if (request.url().startsWith("http") && !request.url().startsWith(`${proxy.url}/`))
          outside.push(request.url());
      });
      await page.goto(`${proxy.url}/`);
      await page.waitForURL(`${proxy.url}/console/chat`);
      await page.goto(`${proxy.url}/docs`);
      await page.waitForURL(`${proxy.url}/console/docs`);
      for (const view of ["tasks", "inbox", "agents/words?tab=connect", "deliveries", "server"]) {
        await open(view);
        await page.locator("main h1:visible, main h2:visible").first().waitFor();
      }
      await open("docs/guide/push.md");
      await page.getByRole("heading", { name: "Push notifications" }).waitFor();
      expect(outside).toEqual([]);
      expect(complaints).toEqual([]);
      await context.close();
    });

    it.skipIf(!isThere)("streams an answer, and reloads the page of a deep link", async () => {
      const { page, context, complaints, open } = await openConsole(browser, proxy.url);
      await open("chat?agent=words");
      await say(page, "10 words, hold at 6");
      // The agent waits: the words arrive before the answer is complete, so the stream is not buffered.
      await page.locator(".said-main", { hasText: "word5" }).waitFor();
      await page.locator(".composer textarea").press("Escape");
      await page.locator(".said-foot", { hasText: "Canceled" }).waitFor();
      await page.reload();
      await page.locator(".said-foot", { hasText: "Canceled" }).waitFor();
      expect(new URL(page.url()).pathname).toMatch(/^\/a2a\/console\/chat\/words\//);
      await page.getByRole("link", { name: "Open the task" }).click();
      await page.locator(".tl-row", { hasText: "word 5" }).waitFor();
      await page.locator(".inspect pre", { hasText: `${proxy.url}/agents/words` }).waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    });
  });
});
