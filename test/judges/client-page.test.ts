import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildPages, bundle } from "../support/bundle.ts";
import { endChildren } from "../support/child.ts";
import { hasBrowser, launchBrowser } from "../support/console.ts";
import { type PageServer, servePages } from "../support/page-server.ts";
import { RestartableServer } from "../support/restartable-server.ts";

/** `dragoman/client` and `dragoman/react` in a browser: a page at another origin, and a server that is killed. */

const inTree = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const WORDS = Array.from({ length: 30 }, (_, n) => `word${n} `);
const WHOLE = WORDS.join("").trim();
const BODY = `
    if (task.answers.size) return yield ctx.text(task.answers.size + " and " + task.answers.color);
    if (task.turn > 1) return yield ctx.text("You chose " + task.text);
    if (task.text === "forms") return yield ctx.askAll({ size: "Which size?", color: "Which color?" });
    if (task.text === "ask") return yield ctx.ask("Which one?");
    if (task.text === "idle") { await gate("never"); }
    mark(task.text);
    for (let n = 0; n < 30; n++) {
      await ctx.step("word " + n, () => n);
      yield ctx.text("word" + n + " ");
      if (n === 9 && task.text === "count") await gate("first");
      if (n === 19 && task.text === "count") await gate("second");
    }`;

const CLIENT_PAGE = `<!doctype html><title>client</title><script type="module">
  import * as client from "/client.js";
  globalThis.client = client;
</script>`;
const WORKER = `
  import { connect, replyText } from "/client.js";
  onmessage = async ({ data }) => postMessage(replyText(await (await connect(data)).send("hello")));
`;

describe.skipIf(!hasBrowser)("in a browser", () => {
  let browser: Browser;
  let pages: PageServer;
  let there: RestartableServer;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    browser = await launchBrowser();
    const { code } = await bundle(inTree("src/client/index.ts"));
    const example = await buildPages(inTree("examples/react"));
    const task = [...(await buildPages(inTree("test/fixtures/task-page")))].map(
      ([path, text]) => [path.replace("/index.html", "/task.html"), text] as const,
    );
    const own = [
      ["/client.html", CLIENT_PAGE],
      ["/client.js", code],
      ["/worker.js", WORKER],
    ] as const;
    pages = await servePages(new Map([...example, ...task, ...own]));
  });
  afterAll(async () => {
    await browser.close();
    pages.close();
  });
  beforeEach(async () => {
    there = new RestartableServer(["--cors", pages.url]);
    await there.start(BODY);
    page = await (await browser.newContext()).newPage();
    complaints = [];
    page.on("pageerror", error => complaints.push(error.message));
  });
  afterEach(async () => {
    await page.context().close();
    await endChildren();
    there.remove();
    expect(complaints).toEqual([]);
  });

  const restart = async (gate: string): Promise<void> => {
    await there.server.kill();
    there.open(gate);
    await there.start();
  };

  describe("dragoman/client", () => {
    const open = async (): Promise<void> => {
      await page.goto(`${pages.url}/client.html`);
      await page.waitForFunction("globalThis.client !== undefined");
    };

    it("streams over a kill of the server, and loses and repeats no word", async () => {
      await open();
      const reading = page.evaluate(`(async () => {
        const agent = await client.connect("${there.url}", { retryDelaysMs: Array(60).fill(500) });
        globalThis.text = "";
        let last;
        for await (const update of agent.stream("count")) {
          last = update;
          if (update.kind === "artifact") globalThis.text += client.textOf(update.artifact.parts);
        }
        return [globalThis.text.trim(), last.task.state, client.replyText(last.task).trim()];
      })()`);
      await page.waitForFunction(`globalThis.text?.endsWith("word9 ")`);
      await restart("first");
      await page.waitForFunction(`globalThis.text?.endsWith("word19 ")`);
      await restart("second");
      expect(await reading).toEqual([WHOLE, "completed", WHOLE]);
      expect(there.trail()).toEqual(["count", "count", "count"]);
    });

    it("sends files, names faults, and works in a worker", async () => {
      await open();
      const [kinds, code] = (await page.evaluate(`(async () => {
        const agent = await client.connect("${there.url}");
        const task = await agent.send(["hello", new File(["x"], "a.txt", { type: "text/plain" })]);
        const error = await agent.task("nope").get().catch(reason => reason);
        return [task.history[0].parts.map(part => part.kind), error.code];
      })()`)) as [string[], string];
      expect([kinds, code]).toEqual([["text", "bytes"], "task-not-found"]);
      const inWorker = await page.evaluate(`new Promise(resolve => {
        const worker = new Worker("/worker.js", { type: "module" });
        worker.onmessage = ({ data }) => resolve(data);
        worker.postMessage("${there.url}");
      })`);
      expect(String(inWorker).trim()).toBe(WHOLE);
    });
  });

  describe("a page with useTask", () => {
    const open = (id: string) =>
      page.goto(`${pages.url}/task.html?agent=${encodeURIComponent(there.url)}&task=${id}`);
    const ends = (state: string) => page.getByRole("status").filter({ hasText: state }).waitFor();

    it("follows the task over a restart, to its end", async () => {
      await open(await there.begin("count"));
      await page.locator("output", { hasText: /word9 $/ }).waitFor();
      await restart("first");
      await page.locator("output", { hasText: /word19 $/ }).waitFor();
      there.open("second");
      await ends("completed");
      expect((await page.locator("output").textContent())?.trim()).toBe(WHOLE);
    });

    it("answers its questions, stops it, and says that it does not exist", async () => {
      await open(await there.begin("forms"));
      await page.getByText("Which color?", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Answer" }).click();
      await page.locator("output", { hasText: "L and red" }).waitFor();
      await ends("completed");
      await open(await there.begin("idle"));
      await ends("working");
      await page.getByRole("button", { name: "Stop" }).click();
      await ends("canceled");
      await open("nope");
      await page.getByRole("alert").filter({ hasText: "Task not found" }).waitFor();
    });
  });

  describe("the example page with dragoman/react", () => {
    const open = async (): Promise<void> => {
      await page.goto(`${pages.url}/?agent=${encodeURIComponent(there.url)}`);
      await page.getByRole("heading", { name: "worker" }).waitFor();
    };
    const say = async (text: string, button: string): Promise<void> => {
      await page.getByLabel("Message").fill(text);
      await page.getByRole("button", { name: button }).click();
    };
    const shows = (text: string | RegExp) => page.getByRole("listitem").filter({ hasText: text }).waitFor();
    const ends = (state: string) => page.getByRole("status").filter({ hasText: state }).waitFor();
    const said = async (): Promise<readonly string[]> =>
      (await page.getByRole("listitem").allTextContents()).map(text => text.trim());

    it("asks, and is answered; the conversation is there after a reload", async () => {
      await open();
      await say("ask", "Send");
      await shows("Which one?");
      await say("this", "Answer");
      await shows("You chose this");
      await ends("completed");
      const before = await said();
      expect(before).toEqual(["ask", "Which one?", "this", "You chose this"]);
      await page.reload();
      await shows("You chose this");
      expect(await said()).toEqual(before);
      await page.getByRole("button", { name: "New" }).click();
      await ends("ready");
      expect(await said()).toEqual([]);
    });

    it("continues after a reload in the middle of an answer, and a restart of the server", async () => {
      await open();
      await say("count", "Send");
      await shows(/word9 $/);
      await page.reload();
      await shows(/word9 $/);
      await restart("first");
      await shows(/word19 $/);
      await page.reload();
      await restart("second");
      await shows("word29");
      await ends("completed");
      expect(await said()).toEqual(["count", WHOLE]);
    });

    it("a message that was sent while the server was down arrives once, also after a reload", async () => {
      await open();
      await there.server.kill();
      await say("hello", "Send");
      await shows("hello");
      await page.reload();
      await there.start();
      await shows("word29");
      await ends("completed");
      expect([await said(), there.trail()]).toEqual([["hello", WHOLE], ["hello"]]);
    });

    it("stops a task", async () => {
      await open();
      // At once: the server has not given it an id yet.
      await say("idle", "Send");
      await page.getByRole("button", { name: "Stop" }).click();
      await ends("canceled");
      await say("idle", "Send");
      await ends("Working");
      await page.getByRole("button", { name: "Stop" }).click();
      await ends("canceled");
    });
  });
});
