import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Child, startChild } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import {
  CONSOLE_AGENTS,
  type ConsolePage,
  hasBrowser,
  launchBrowser,
  openConsole,
  say,
} from "../support/console.ts";

/** Agents, their cards, documents, authorization, exports: on a server with tokens. */
describe.skipIf(!hasBrowser)("agents and documents in the console", () => {
  const folder = mkdtempSync(join(tmpdir(), "console-agents-"));
  let server: Child;
  let browser: Browser;
  let token = "";
  let one: ConsolePage;
  let page: Page;

  beforeAll(async () => {
    const data = join(folder, "data");
    const scopes = "send,read,cancel,console:read,console:act,admin";
    const made = await runCli(
      "token",
      "create",
      "--data",
      data,
      "--principal",
      "ada",
      "--scopes",
      scopes,
      "--json",
    );
    token = JSON.parse(made.out).token;
    const flags = [
      "--auth",
      "tokens",
      "--durability",
      "process",
      "--drain-ms",
      "0",
      "--log-level",
      "error",
      "--sign-cards",
    ];
    server = await startChild({ agents: [CONSOLE_AGENTS], data, flags });
    browser = await launchBrowser();
    one = await openConsole(browser, server.url, { token });
    page = one.page;
  });
  afterAll(async () => {
    expect(one.complaints).toEqual([]);
    expect(one.foreign).toEqual([]);
    await browser?.close();
    await server?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it("shows the card in every form, with findings that name their section, and a verified signature", async () => {
    await one.open("agents/words");
    await page.getByText("Signature verified").waitFor();
    await page.getByText("Covers the whole card").first().waitFor();
    await page
      .locator(".find, .finding, li", { hasText: /A2A 1\.0 §/ })
      .first()
      .waitFor();
    const forms = page.getByRole("tablist").last().getByRole("tab");
    const names = await forms.allInnerTexts();
    expect(names).toEqual(expect.arrayContaining(["Hybrid", "A2A 1.0", "A2A 0.3", "A2A 0.2", "A2A 0.1"]));
    for (const name of names) {
      await page.getByRole("tab", { name, exact: true }).click();
      await page.locator(".json-panel, .card-json", { hasText: "words" }).first().waitFor();
    }
    await page.getByRole("tab", { name: "A2A 0.3", exact: true }).click();
    await page.getByText("protocolVersion").first().waitFor();
  });

  it.each(["server", "agents/words"])(
    "an address of %s with an unknown tab shows the first one",
    async view => {
      await one.open(`${view}?tab=unknown`);
      const first = page.getByRole("tablist").first().getByRole("tab").first();
      await expect.poll(() => first.getAttribute("aria-selected")).toBe("true");
    },
  );

  it("an agent asks for a token: it is given in the chat, and the task continues", async () => {
    await one.open("chat?agent=asker");
    await say(page, "token, please");
    await page.getByText("asker needs authorization").waitFor();
    await page.getByPlaceholder("Token", { exact: true }).fill("secret-of-the-mail");
    await page.getByRole("button", { name: "Authorize" }).click();
    await page.locator(".said-main", { hasText: "Authorized." }).waitFor();
    await page.getByRole("link", { name: "Open the task" }).click();
    await page.locator(".task-title", { hasText: "Completed" }).waitFor();
    expect(await page.locator("body").innerText()).not.toContain("secret-of-the-mail");
  });

  it("an export is one file that shows the task without a server", async () => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).click(),
    ]);
    const file = join(folder, "export.html");
    await download.saveAs(file);
    expect(readFileSync(file, "utf8")).not.toContain("secret-of-the-mail");
    const alone = await browser.newPage();
    const requests: string[] = [];
    alone.on("request", request => requests.push(request.url()));
    await alone.goto(`file://${file}`);
    await alone.getByText("token, please").first().waitFor();
    expect(await alone.locator("script").count()).toBe(0);
    expect(requests.filter(url => !url.startsWith("file:") && !url.startsWith("data:"))).toEqual([]);
    await alone.close();
  });

  it("/docs is searched over guides and calls; a hit opens its page, a link another one", async () => {
    await page.goto(`${server.url}/docs`);
    await page.waitForURL(/\/console\/docs$/);
    await page.getByRole("heading", { name: "Agent calls" }).waitFor();
    await page.getByLabel("Search the documents").fill("webhook-id");
    const hit = page.locator(".doc-hit", { hasText: "guide/push.md" });
    await hit.click();
    await page.getByRole("heading", { name: "Push notifications" }).waitFor();
    await page.locator(".doc-page a").first().click();
    await page.waitForURL(/\/console\/docs\//);
    await one.open("docs/admin-api");
    const route = page.locator("details", { hasText: "/admin/v1/tasks/{id}/events" }).first();
    await route.locator("summary").click();
    await page.getByText("TaskRow").first().waitFor();
  });
});
