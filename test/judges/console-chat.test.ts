import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Child, startChild } from "../support/child.ts";
import {
  CONSOLE_AGENTS,
  type ConsolePage,
  hasBrowser,
  launchBrowser,
  openConsole,
  say,
} from "../support/console.ts";

const FLAGS = ["--durability", "process", "--log-level", "warn", "--drain-ms", "0"];

describe.skipIf(!hasBrowser)("the chat of the console", () => {
  const folder = mkdtempSync(join(tmpdir(), "console-chat-"));
  const data = join(folder, "data");
  let server: Child;
  let browser: Browser;
  let one: ConsolePage;
  const start = async (port = 0): Promise<void> => {
    server = await startChild({ agents: [CONSOLE_AGENTS], data, port, flags: FLAGS });
  };

  beforeAll(async () => {
    await start();
    browser = await launchBrowser();
    one = await openConsole(browser, server.url);
  });
  afterAll(async () => {
    expect(one.complaints).toEqual([]);
    expect(one.foreign).toEqual([]);
    await browser?.close();
    await server?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A new conversation with an agent. */
  const talk = async (agent: string, text: string): Promise<void> => {
    await one.open(`chat?agent=${agent}`);
    await say(one.page, text);
  };
  const answer = () => one.page.locator(".said-main").last();
  const numbered = (total: number): string =>
    Array.from({ length: total }, (_, at) => `word${at + 1}`).join(" ");

  it("streams an answer word by word, with its progress, and shows what it cost", async () => {
    await talk("words", "15 words");
    await one.page.getByText("Writing 15 words").first().waitFor();
    await one.page.getByRole("log").getByText("word3").first().waitFor();
    await one.page.getByText("12 tokens in, 15 out").waitFor();
    expect((await answer().locator(".prose").innerText()).trim()).toBe(numbered(15));
    expect(one.page.url()).toMatch(/\/console\/chat\/words\/[\w-]+$/);
  });

  it("shows the same conversation after a reload, and finds it by its words", async () => {
    await one.page.reload();
    await one.page.getByText("12 tokens in, 15 out").waitFor();
    expect((await answer().locator(".prose").innerText()).trim()).toBe(numbered(15));
    await one.page.getByRole("button", { name: "Rename" }).click();
    await one.page.getByLabel("Title of the conversation").fill("My numbers");
    await one.page.keyboard.press("Enter");
    await one.page.locator(".ctx", { hasText: "My numbers" }).waitFor();
    await one.page.getByLabel("Search conversations").fill("nothing has these words");
    await one.page.getByText("No conversation contains these words").waitFor();
    await one.page.getByLabel("Search conversations").fill("15 words");
    await one.page.locator(".ctx", { hasText: "My numbers" }).waitFor();
  });

  it("loses and repeats no word when the page is reloaded in the middle of an answer", async () => {
    await talk("words", "25 words");
    await one.page.getByRole("log").getByText("word5").first().waitFor();
    await one.page.reload();
    await one.page.getByText("tokens in, 25 out").waitFor();
    expect((await answer().locator(".prose").innerText()).trim()).toBe(numbered(25));
  });

  it("loses and repeats no word when the server is killed and restarted in the middle of an answer", async () => {
    await talk("words", "40 words, hold at 20");
    await one.page.getByRole("log").getByText("word19").first().waitFor();
    const { port } = server;
    await server.kill();
    await one.page.getByText("Reconnecting").first().waitFor();
    await start(port);
    await one.page.getByText("tokens in, 40 out").waitFor();
    expect((await answer().locator(".prose").innerText()).trim()).toBe(numbered(40));
    await one.page.getByText("Interrupted; continued by the next run").waitFor();
    await one.page.locator(".conn", { hasText: "Live" }).waitFor();
  });

  it("keeps a message that is written while the server is down, and sends it once", async () => {
    const { port } = server;
    await one.open("chat?agent=words");
    await one.page.locator(".composer textarea").waitFor();
    await server.kill();
    await say(one.page, "3 words");
    await one.page.getByText("It is sent as soon as the server responds").waitFor();
    await one.page.reload().catch(() => {});
    await start(port);
    await one.page.goto(`${server.url}/console/chat`);
    await one.page.goBack();
    await one.page.getByText("tokens in, 3 out").waitFor();
    expect(await one.page.locator(".said-user", { hasText: "3 words" }).count()).toBe(1);
  });

  it("shows one task in two browsers at the same time", async () => {
    await talk("words", "30 words");
    await one.page.waitForURL(/chat\/words\/[\w-]+$/);
    const two = await openConsole(browser, server.url);
    await two.page.goto(one.page.url());
    await two.page.getByText("tokens in, 30 out").waitFor();
    expect((await two.page.locator(".said-main .prose").last().innerText()).trim()).toBe(numbered(30));
    await one.page.getByText("tokens in, 30 out").waitFor();
    await say(two.page, "2 words");
    await one.page.getByText("tokens in, 2 out").waitFor();
    expect(two.complaints).toEqual([]);
    await two.context.close();
  });

  it("stops a task, tries again, and edits a message", async () => {
    await talk("words", "500 words");
    await one.page.getByRole("log").getByText("word2").first().waitFor();
    await one.page.locator(".composer textarea").press("Escape");
    await one.page.locator(".said-foot", { hasText: "Canceled" }).waitFor();
    await one.page.getByRole("button", { name: "Edit and send again" }).click();
    const field = one.page.locator(".composer textarea");
    await expect.poll(() => field.inputValue()).toBe("500 words");
    await field.fill("2 words");
    await field.press("Enter");
    await one.page.getByText("tokens in, 2 out").waitFor();
    await one.page.getByRole("button", { name: "Try again" }).last().click();
    await expect.poll(() => one.page.getByText("tokens in, 2 out").count()).toBe(2);
  });

  it("works with agents that do not stream, and with bare messages, also after a reload", async () => {
    await talk("whole", "a question");
    await one.page.getByText("The whole answer to a question").first().waitFor();
    await talk("replier", "hello");
    await one.page.locator(".said-main", { hasText: "A message, not a task: hello" }).waitFor();
    await one.page.reload();
    await one.page.locator(".said-main", { hasText: "A message, not a task: hello" }).waitFor();
    await say(one.page, "again");
    await one.page.locator(".said-main", { hasText: "A message, not a task: again" }).waitFor();
  });

  it("answers a question, several questions, and part of them", async () => {
    await talk("asker", "one");
    await one.page.locator(".question", { hasText: "Which colour?" }).waitFor();
    await one.page.getByText("Your answer goes to task").waitFor();
    await say(one.page, "blue");
    await one.page.getByText("You like blue.").first().waitFor();

    await talk("asker", "several");
    await one.page.getByLabel("Aisle or window?").fill("window");
    await one.page.getByRole("button", { name: "Send 1 of 2 answers" }).click();
    await one.page.getByPlaceholder("Answered", { exact: true }).waitFor();
    await one.page.getByLabel("Fish or soup?").fill("soup");
    await one.page.getByRole("button", { name: "Send the answers" }).click();
    await one.page.getByText("Seat window, meal soup.").first().waitFor();
  });

  it("sends files, shows those of the agent, and lets the user save them", async () => {
    const file = join(folder, "mine.txt");
    writeFileSync(file, "my own file");
    await one.open("chat?agent=files");
    await one.page.locator("input[type=file]").setInputFiles(file);
    await one.page.locator(".attached", { hasText: "mine.txt" }).waitFor();
    await say(one.page, "here");
    await one.page.locator(".said-main .art", { hasText: "mine.txt" }).waitFor();
    await one.page.locator(".said-main img.art-image").waitFor();
    expect(await one.page.locator(".said-main table", { hasText: "a, b" }).count()).toBe(1);
    expect(await one.page.locator(".said-main audio").count()).toBe(1);
    await one.page.locator(".said-main h1", { hasText: "Files" }).waitFor();
    const [download] = await Promise.all([
      one.page.waitForEvent("download"),
      one.page.getByRole("button", { name: "Download rows.csv" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("rows.csv");
  });

  it("makes a form of the input schema of an agent, and says what is missing", async () => {
    await one.open("chat?agent=form");
    await one.page.locator(".composer textarea").press("Enter");
    await one.page.getByText("Required", { exact: true }).waitFor();
    await one.page.getByLabel("City").fill("Lisbon");
    await one.page.getByLabel("room").selectOption("double");
    await one.page.locator(".composer textarea").last().press("Enter");
    const request = one.page.locator(".said-main .art", { hasText: "request" });
    await request.getByText("Lisbon").waitFor();
    await request.getByText("double").waitFor();
    await request.locator("dd", { hasText: "2" }).waitFor();
  });
});
