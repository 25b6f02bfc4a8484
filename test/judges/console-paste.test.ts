/** Code and commands that the console offers: they are copied in the page and run as they are. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminGet } from "../support/admin-client.ts";
import { type Child, startChild } from "../support/child.ts";
import { runCli } from "../support/cli.ts";
import { rpc, sendParams } from "../support/client.ts";
import {
  CONSOLE_AGENTS,
  type ConsolePage,
  hasBrowser,
  launchBrowser,
  openConsole,
} from "../support/console.ts";
import type { Loose } from "../support/official-dialects.ts";
import { installPython } from "./python.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const FLAGS = ["--durability", "process", "--drain-ms", "0", "--log-level", "error"];
const python = installPython("a2a-sdk", ["a2a-sdk==1.3.0", "httpx"]);

describe.skipIf(!hasBrowser)("code to paste", () => {
  // Below the packages of the repository, as the project of a user has them.
  const folder = mkdtempSync(join(ROOT, "node_modules/.console-paste-"));
  let server: Child;
  let browser: Browser;
  let one: ConsolePage;
  let page: Page;
  let token = "";

  beforeAll(async () => {
    const data = join(folder, "data");
    const scopes = ["--scopes", "send,read,cancel,console:read"];
    const made = await runCli("token", "create", "--data", data, "--principal", "ada", ...scopes, "--json");
    token = JSON.parse(made.out).token;
    server = await startChild({ agents: [CONSOLE_AGENTS], data, flags: ["--auth", "tokens", ...FLAGS] });
    browser = await launchBrowser();
    one = await openConsole(browser, server.url, { token });
    page = one.page;
  });
  afterAll(async () => {
    expect(one.complaints).toEqual([]);
    await browser?.close();
    await server?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (command: string, ...args: readonly string[]): Promise<string> => {
    const env = { ...process.env, TOKEN: token, NODE_OPTIONS: "" };
    const child = spawn(command, args, { cwd: folder, env });
    let out = "";
    child.stdout.on("data", text => (out += text));
    child.stderr.on("data", text => (out += text));
    await once(child, "close");
    return out;
  };
  const copied = (): Promise<string> => page.evaluate<string>("navigator.clipboard.readText()");
  const copyCode = async (client: string): Promise<string> => {
    await one.open("agents/words?tab=connect");
    await page.getByRole("tab", { name: client, exact: true }).click();
    await page.getByRole("button", { name: "Copy", exact: true }).first().click();
    const code = await copied();
    expect(code).not.toContain(token);
    return code;
  };
  const runFile = (file: string, code: string, program: string): Promise<string> => {
    writeFileSync(join(folder, file), code);
    return run(program, file);
  };

  it.each(["A2A JS SDK", "LangGraph SDK", "OpenAI SDK"])("for %s works", async client => {
    expect(await runFile("pasted.mjs", await copyCode(client), process.execPath)).toContain("word40");
  });

  it.skipIf(python === undefined)("for the A2A Python SDK works", async () => {
    expect(await runFile("pasted.py", await copyCode("A2A Python SDK"), python as string)).toContain(
      "word40",
    );
  });

  it("for curl and for the command line works", async () => {
    expect(await run("bash", "-c", await copyCode("curl"))).toContain("word40");
    const line = await copyCode("Command line");
    expect(line).toContain("npx dragoman call");
    const program = `"${process.execPath}" "${ROOT}bin/dragoman.cjs"`;
    expect(await run("bash", "-c", line.replace("npx dragoman", program))).toContain("word40");
  });

  it("for another Dragoman works: it serves the agent as its own", async () => {
    const file = join(folder, "again.mjs");
    writeFileSync(file, await copyCode("Another Dragoman"));
    const other = await startChild({
      agents: [file],
      data: join(folder, "other"),
      flags: FLAGS,
      env: { TOKEN: token },
    });
    const { body } = await rpc(`${other.url}/agents/words`, "SendMessage", sendParams("3 words"));
    expect(JSON.stringify(body)).toContain("word1 word2 word3");
    await other.kill();
  });

  it("as curl works in every dialect, and sends the data of the first message again", async () => {
    const auth = { authorization: `Bearer ${token}` };
    const parts = [{ data: { city: "Lisbon", nights: 3 } }];
    const message = { messageId: "m1", role: "ROLE_USER", parts };
    const response = await fetch(`${server.url}/agents/form/message:send`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", ...auth },
      body: JSON.stringify({ message }),
    });
    const { id } = ((await response.json()) as Loose).task;
    const { commands } = (await adminGet(server.url, `/tasks/${id}/curl?after=2`, auth)).json;
    const found: Record<string, string> = { get: "Lisbon", subscribe: "", cancel: "", send: "Lisbon" };
    // Arbiter has no data: the agent gets it as text, and refuses it as every caller's text.
    const isRefused = (name: string, action: string): boolean => name === "arbiter" && action === "send";
    for (const { name, binding, action, command } of commands) {
      const out = await run("bash", "-c", command);
      expect(out, `${name} ${binding} ${action}`).toContain(isRefused(name, action) ? "" : found[action]);
      if (action === "subscribe") expect(out, `${name} ${binding}`).toMatch(/^data: /m);
      if (action === "cancel") expect(out, `${name} ${binding}`).toContain("already ended");
    }
    expect(commands).toHaveLength(9 * 4);
    await one.open(`tasks/${id}`);
    await page.getByRole("button", { name: "Copy as curl" }).first().click();
    await page.getByRole("button", { name: "send", exact: true }).click();
    await page.locator(".menu-item", { hasText: "Orloj" }).click();
    await expect.poll(copied).toContain("/v1/agents/form/a2a");
    expect(await run("bash", "-c", await copied())).toContain("Lisbon");
  });
});
