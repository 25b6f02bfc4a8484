import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminPost } from "../support/admin-client.ts";
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
import { openReceiver, type Receiver } from "../support/receiver.ts";

/** A server with tokens: who sees and does what, tokens that end, webhooks that fail. */
describe.skipIf(!hasBrowser)("the console of a server with tokens", () => {
  const folder = mkdtempSync(join(tmpdir(), "console-access-"));
  const data = join(folder, "data");
  let server: Child;
  let browser: Browser;
  let receiver: Receiver;
  let operator = "";
  let ops: ConsolePage;

  const auth = (token: string) => ({ authorization: `Bearer ${token}` });
  const createToken = async (
    principal: string,
    permissions: readonly string[],
    more = {},
  ): Promise<string> => {
    const body = { principal, permissions, ...more };
    const { json } = await adminPost(server.url, "/tokens", body, auth(operator));
    return json.secret as string;
  };
  const USER = ["send", "read", "cancel", "console:read"] as const;

  beforeAll(async () => {
    receiver = await openReceiver();
    const made = await runCli(
      "token",
      "create",
      "--data",
      data,
      "--principal",
      "ops",
      "--scopes",
      "send,read,cancel,push,admin",
      "--json",
    );
    operator = JSON.parse(made.out).token;
    const flags = [
      "--auth",
      "tokens",
      "--push-allow-loopback",
      "--durability",
      "process",
      "--drain-ms",
      "0",
      "--log-level",
      "error",
    ];
    server = await startChild({ agents: [CONSOLE_AGENTS], data, flags });
    browser = await launchBrowser();
    ops = await openConsole(browser, server.url, { token: operator });
  });
  afterAll(async () => {
    expect(ops.complaints).toEqual([]);
    await browser?.close();
    await server?.kill();
    await receiver?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("an operator creates a token, its user signs in with it, and the operator revokes it", async () => {
    await ops.open("server?tab=tokens");
    await ops.page.getByRole("button", { name: "Create a token" }).click();
    const dialog = ops.page.getByRole("dialog");
    await dialog.getByLabel("Caller").fill("ada");
    await dialog.getByLabel("Name, for this list").fill("laptop");
    await dialog.getByLabel("console:read").check();
    await dialog.getByRole("button", { name: "Create", exact: true }).click();
    const secret = await dialog.locator(".token-secret").innerText();
    await dialog.getByRole("button", { name: "Copy the token" }).click();
    await expect.poll(() => ops.page.evaluate<string>("navigator.clipboard.readText()")).toBe(secret.trim());
    await ops.page.keyboard.press("Escape");
    const row = ops.page.locator("tr", { hasText: "laptop" });
    await row.getByText("Valid").waitFor();

    const ada = await openConsole(browser, server.url);
    await ada.open("chat?agent=words");
    await ada.page.getByLabel("Bearer token").fill(secret.trim());
    await ada.page.keyboard.press("Enter");
    await say(ada.page, "3 words");
    await ada.page.getByText("tokens in, 3 out").waitFor();
    // The token may not act, and sees nothing of the server.
    await ada.page.locator(".conn", { hasText: "read only" }).waitFor();
    await ada.open("server");
    await ada.page.getByText("admin").first().waitFor();
    expect(await ada.page.locator(".rail").innerText()).not.toContain("undefined");

    ops.page.once("dialog", question => void question.accept());
    await ops.page.reload();
    await row.getByRole("button", { name: "Revoke" }).click();
    await row.getByText("Revoked").waitFor();
    await ada.page.getByText(EXPIRED).waitFor();
    expect(ada.complaints).toEqual([]);
    await ada.context.close();
  });

  const EXPIRED = "The token has expired or is not valid";
  /** A page whose user has an answer and a draft before the token expires: on a slow machine with a longer life. */
  const openWithDraft = async (): Promise<readonly [ConsolePage, number]> => {
    for (let seconds = 15; ; seconds *= 2) {
      const token = await createToken("eve", USER, { expiresInSeconds: seconds });
      const eve = await openConsole(browser, server.url, { token });
      const expired = eve.page.getByText(EXPIRED);
      const total = seconds * 25;
      await eve.open("chat?agent=words");
      await eve.page.locator(".composer textarea").or(expired).first().waitFor();
      if (!(await expired.isVisible())) {
        await say(eve.page, `${total} words`);
        await eve.page.getByRole("log").getByText("word2").or(expired).first().waitFor();
        await eve.page.locator(".composer textarea").fill("what I was about to write");
        if (!(await expired.isVisible())) return [eve, total];
      }
      await eve.context.close();
    }
  };

  it("a token that expires in the middle of an answer: the page asks for another, and nothing is lost", async () => {
    const [eve, total] = await openWithDraft();
    await eve.page.getByText(EXPIRED).waitFor();
    await eve.page.locator(".said-main", { hasText: "word2" }).waitFor();
    await eve.page.getByLabel("Bearer token").fill(await createToken("eve", USER));
    await eve.page.keyboard.press("Enter");
    await eve.page.locator(".conn", { hasText: "Live" }).waitFor();
    expect(await eve.page.locator(".composer textarea").inputValue()).toBe("what I was about to write");
    await eve.page.getByText(`tokens in, ${total} out`).waitFor();
    const expected = Array.from({ length: total }, (_, at) => `word${at + 1}`).join(" ");
    expect((await eve.page.locator(".said-main .prose").last().innerText()).trim()).toBe(expected);
    expect(eve.complaints).toEqual([]);
    await eve.context.close();
  });

  it("a caller sees its own tasks, an operator those of all callers, by caller", async () => {
    const eve = await openConsole(browser, server.url, { token: await createToken("eve", USER) });
    await eve.open("tasks");
    await eve.page.locator("tr[data-id]").first().waitFor();
    const own = await eve.page.locator("tr[data-id]").count();
    await eve.context.close();
    await ops.open("tasks");
    await expect.poll(() => ops.page.locator("tr[data-id]").count()).toBe(own + 1);
    await ops.page.getByLabel("Caller").fill("ada");
    await ops.page.keyboard.press("Enter");
    await expect.poll(() => ops.page.locator("tr[data-id]").count()).toBe(1);
    await ops.page.waitForURL(/caller=ada/);
    // The operator reads the conversation of another caller, and cannot continue it.
    await ops.page.locator("tr[data-id] a").click();
    await ops.page.getByRole("link", { name: "Open in chat" }).click();
    await ops.page.getByText("Read only: this is a conversation of ada.").waitFor();
    expect(await ops.page.locator(".composer").count()).toBe(0);
  });

  it("shows the attempts of a webhook, retries it now, gives up, and delivers again", async () => {
    receiver.answer = () => ({ status: 500, body: "no" });
    const configuration = { taskPushNotificationConfig: { url: `${receiver.url}/hook`, token: "t" } };
    const body = {
      jsonrpc: "2.0",
      id: 1,
      method: "SendMessage",
      params: {
        message: { messageId: "push-1", role: "ROLE_USER", parts: [{ text: "2 words" }] },
        configuration,
      },
    };
    const headers = { "content-type": "application/json", "a2a-version": "1.0", ...auth(operator) };
    await fetch(`${server.url}/agents/words`, { method: "POST", headers, body: JSON.stringify(body) });
    await ops.open("deliveries");
    const row = ops.page.locator("tbody tr", { hasText: "/hook" });
    await row.getByText("Retrying").waitFor();
    await row.getByText("500").waitFor();
    await row.getByRole("button", { name: /attempts?: show/ }).click();
    await ops.page.locator(".attempts-note", { hasText: "with token" }).waitFor();
    const before = receiver.all.length;
    await row.getByRole("button", { name: "Now" }).click();
    await receiver.got(before + 1);
    await row.getByText("Retrying").waitFor();
    await row.getByRole("button", { name: "Give up" }).click();
    await row.getByText("Given up").waitFor();
    await ops.page.getByRole("button", { name: "Given up" }).click();
    await ops.page.waitForURL(/state=dead/);
    await row.waitFor();
    receiver.answer = () => ({ status: 204 });
    await row.getByRole("button", { name: "Redeliver" }).click();
    await ops.page.getByText("No webhook matches").waitFor();
    await ops.page.getByRole("button", { name: "All", exact: true }).click();
    await row.getByText("Delivered").waitFor();
    await row.getByText("204").waitFor();
    // The same deliveries on the page of the task.
    await row.getByRole("link").click();
    await ops.page.getByText("/hook").first().waitFor();
  });
});
