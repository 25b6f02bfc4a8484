import { existsSync } from "node:fs";
import { createHandler } from "dragoman";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { onExpress, PATH } from "../support/hosts.ts";
import type { Loose } from "../support/official-dialects.ts";
import { operationsIn } from "../support/openapi.ts";
import { createTestLog, serve, type TestServer } from "../support/server.ts";

const BROWSER = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
if (BROWSER === undefined)
  process.stderr.write(
    "\n*** There is no Chromium on this machine: the page at /docs is NOT tested in a browser ***\n\n",
  );

const echo = { name: "echo", run: (task: { text: string }) => `You said: ${task.text}` };

describe.skipIf(BROWSER === undefined)(
  "the page at /docs of a server without the console, in a browser",
  () => {
    let server: TestServer;
    let browser: Browser;
    let page: Page;
    const complaints: string[] = [];
    const requested: string[] = [];

    beforeAll(async () => {
      server = await serve([echo], { console: "off" });
      browser = await chromium.launch({ executablePath: BROWSER as string, args: ["--no-sandbox"] });
      page = await browser.newPage();
      page.on("console", message => message.type() === "error" && complaints.push(message.text()));
      page.on("pageerror", error => complaints.push(error.message));
      page.on("request", request => requested.push(request.url()));
      await page.goto(`${server.url}/docs`);
      await page.locator("#list section").first().waitFor();
    });
    afterAll(async () => {
      await browser?.close();
      await server?.stop();
    });

    it("lists every operation below the dialects that have it", async () => {
      const api: Loose = await (await fetch(`${server.url}/openapi.json`)).json();
      for (const { name, description } of api.tags) {
        const section = page.locator(`section[aria-labelledby="${name}"]`);
        expect(await section.locator("h3").first().textContent()).toBe(description);
        const expected = operationsIn(api).filter(({ operation }) => operation.tags.includes(name));
        expect(await section.locator("details").count()).toBe(expected.length);
      }
    });

    it("shows parameters, schemas and a line of curl that can be typed", async () => {
      const section = page.locator('section[aria-labelledby="v1"]');
      const operation = section.locator("details", { hasText: "GET/tasks " }).first();
      await operation.locator("summary").click();
      expect(await operation.locator("table").textContent()).toContain("pageToken");
      expect(await operation.locator("pre").first().textContent()).toContain("V1ListTasksResponse");
      const curl = await operation.locator("pre.curl").textContent();
      expect(curl).toBe(`curl '${server.url}/tasks' \\\n  -H 'A2A-Version: 1.0'`);
      const send = section.locator("details", { hasText: "POST/message:send " }).first();
      await send.locator("summary").click();
      expect(await send.locator("pre.curl").textContent()).toContain(`-X POST '${server.url}/message:send'`);
      expect(await send.locator("pre.curl").textContent()).toContain('"role":"ROLE_USER"');
    });

    it("a link to a schema opens it", async () => {
      await page.locator('a[href="#schema-V1SendMessageResponse"]').first().click();
      const schema = page.locator("#schema-V1SendMessageResponse pre");
      await schema.waitFor();
      expect(await schema.textContent()).toContain("task?: V1Task");
    });

    it("shows only the operations that match the search", async () => {
      await page.locator("#filter").fill("/v1/requests");
      const shown = page.locator("#list details:visible");
      expect(await shown.count()).toBe(2);
      await page.locator("#filter").fill("");
      expect(await shown.count()).toBeGreaterThan(100);
    });

    it("sends to the default agent, with the keyboard alone", async () => {
      await page.locator("#message").fill("hello <b>you</b>");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      const answer = page.locator("#answer pre").first();
      await answer.waitFor();
      expect(await answer.textContent()).toBe("You said: hello <b>you</b>");
      expect(await page.locator("#answer").textContent()).toContain("TASK_STATE_COMPLETED");
    });

    it("works with a trailing slash, too, and in dark mode", async () => {
      const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
      const light = await background();
      await page.emulateMedia({ colorScheme: "dark" });
      await page.goto(`${server.url}/docs/`);
      await page.locator("#list section").first().waitFor();
      expect(await background()).not.toBe(light);
    });

    it("works below a path of another program", async () => {
      const mounted = await createHandler(
        { agents: [echo], data: ":memory:", console: "off" },
        { log: createTestLog() },
      );
      const host = await onExpress(mounted);
      const inside = await browser.newPage();
      await inside.goto(`${host.url}${PATH}/docs`);
      await inside.locator("#list section").first().waitFor();
      expect(await inside.locator("#about").textContent()).toContain(`at ${host.url}${PATH}.`);
      await inside.locator("button").click();
      await inside.locator("#answer pre").first().waitFor();
      expect(await inside.locator("#answer pre").first().textContent()).toBe("You said: Hello");
      await inside.close();
      await mounted.close();
      await host.close();
    });

    it("loads nothing from other hosts, and the browser reports no errors", () => {
      expect(requested.filter(url => !url.startsWith(server.url) && !url.startsWith("data:"))).toEqual([]);
      expect(complaints).toEqual([]);
    });

    it("shows the error if a send is refused", async () => {
      await server.stop();
      await page.locator("#message").press("Tab");
      await page.keyboard.press("Enter");
      await page.locator("#answer .bad").waitFor();
    });
  },
);
