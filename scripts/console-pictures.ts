/** Serves the examples, talks to them, and takes the pictures of the console: docs/images/console-*.png. Build first. */
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startChild } from "../test/support/child.ts";
import { rpc, sendParams } from "../test/support/client.ts";
import { launchBrowser, openConsole, type PageOptions, say } from "../test/support/console.ts";

const IMAGES = fileURLToPath(new URL("../docs/images/", import.meta.url));
const SIZE = { width: 1280, height: 760 };
const EARLIER: readonly (readonly [agent: string, text: string])[] = [
  ["echo", "Good morning"],
  ["countdown", "5"],
  ["reporter", "to be or not to be"],
  ["booking", "A trip to Lisbon"],
];

const data = join(tmpdir(), `console-pictures-${process.pid}`);
await using server = await startServer();
await using browser = await launchBrowser();

async function startServer() {
  const child = await startChild({ data, flags: ["--log-level", "warn"] });
  const close = async (): Promise<void> => {
    await child.kill();
    await rm(data, { recursive: true, force: true });
  };
  return { url: child.url, [Symbol.asyncDispose]: close };
}

async function open(path: string, options: PageOptions = {}) {
  const one = await openConsole(browser, server.url, options);
  await one.page.setViewportSize(SIZE);
  await one.open(path);
  return one.page;
}

for (const [agent, text] of EARLIER)
  await rpc(`${server.url}/agents/${agent}`, "SendMessage", sendParams(text));
const { body } = await rpc(`${server.url}/agents/research`, "SendMessage", sendParams("the Silk Road"));

const chat = await open("chat?agent=research");
await say(chat, "octopuses");
await chat.getByText("the library has").first().waitFor();
// In the list of conversations, and below the answer.
await chat.getByText("Asking the web").nth(1).waitFor();
await chat.screenshot({ path: join(IMAGES, "console-chat.png") });

const task = await open(`tasks/${body.result.task.id}`, { theme: "dark" });
await task.getByText("Sleep for 500 ms").first().waitFor();
await task.screenshot({ path: join(IMAGES, "console-task.png") });
