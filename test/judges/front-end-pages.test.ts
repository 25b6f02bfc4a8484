import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, launchBrowser } from "../support/console.ts";
import { RestartableServer } from "../support/restartable-server.ts";
import { installPackages } from "./install.ts";
import { bundle, openPage } from "./page.ts";

/** Pages with the unmodified libraries of front ends, in a browser. */

const folder = hasBrowser
  ? installPackages("front-end-pages", [
      "react@19.3.1",
      "react-dom@19.3.1",
      "@ai-sdk/react@4.0.167",
      "@ag-ui/client@1.0.0",
    ])
  : undefined;

const AGENT = `
  if (task.turn > 1) return yield ctx.text("To " + task.text);
  yield ctx.text(task.text + " begins, ");
  mark(task.text);
  await gate(task.text);
  if (task.text === "asks") return yield ctx.ask("Where to?");
  yield ctx.text("and ends.");
`;

const USE_CHAT = `
import { createElement as h, useState } from "react";
import { createRoot } from "react-dom/client";
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";

const api = "/agents/worker/chat";
const transport = new DefaultChatTransport({ api });
const id = new URL(location.href).searchParams.get("chat") ?? "first";

function Chat() {
  const { messages, sendMessage, status, stop, error } = useChat({ id, transport, resume: true });
  const [text, setText] = useState("");
  const [isStopped, setStopped] = useState(false);
  const textOf = message => message.parts.map(part => (part.type === "text" ? part.text : "")).join("");
  return h("main", { "data-status": status, className: isStopped ? "stopped" : "" },
    messages.map(message => h("p", { key: message.id, className: message.role }, textOf(message))),
    h("output", null, error?.message ?? ""),
    h("input", { value: text, onChange: event => setText(event.target.value) }),
    h("button", { id: "send", onClick: () => sendMessage({ text }) }, "Send"),
    h("button", { id: "stop", onClick: async () => {
      await stop();
      await fetch(api + "/" + id + "/stream", { method: "DELETE" });
      setStopped(true);
    } }, "Stop"));
}
createRoot(document.getElementById("root")).render(h(Chat));
`;

const AG_UI = `
import { HttpAgent } from "@ag-ui/client";
const root = document.getElementById("root");
root.innerHTML = '<pre id="said"></pre><input><button id="send">Send</button><output></output>';
const agent = new HttpAgent({ url: "/agents/worker/ag-ui", threadId: "thread-1" });
const show = () => (document.getElementById("said").textContent = agent.messages.map(one => one.role + ": " + one.content).join("\\n"));
let count = 0;
document.getElementById("send").onclick = async () => {
  const text = document.querySelector("input").value;
  const resume = agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload: text }));
  if (resume.length === 0) agent.addMessage({ id: "m" + ++count, role: "user", content: text });
  document.querySelector("output").textContent = "running";
  await agent.runAgent(resume.length > 0 ? { resume } : {}, { onTextMessageContentEvent: show, onMessagesChanged: show });
  document.querySelector("output").textContent = "finished";
};
`;

describe.skipIf(folder === undefined)("in a browser page", () => {
  const server = new RestartableServer();
  let browser: Browser;
  beforeAll(async () => {
    await server.start(AGENT);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server.server?.kill();
    server.remove();
  });

  describe("useChat", () => {
    let page: Page;
    beforeAll(async () => {
      page = await openPage(browser, server.url, await bundle(folder as string, "use-chat", USE_CHAT));
    });
    const say = async (text: string): Promise<void> => {
      await page.locator("input").fill(text);
      await page.locator("#send").click();
    };
    const answer = () => page.locator("p.assistant").last();
    const untilAnswer = (text: string): Promise<void> => answer().filter({ hasText: text }).waitFor();
    const untilStatus = (status: string): Promise<void> =>
      page.locator(`main[data-status="${status}"]`).waitFor();

    it("sends a message and shows the answer as it is written", async () => {
      await untilStatus("ready");
      await say("first");
      await untilAnswer("first begins,");
      await untilStatus("streaming");
      server.open("first");
      await untilAnswer("first begins, and ends.");
      await untilStatus("ready");
    });

    it("after a reload it goes on with the answer that is being written", async () => {
      await say("second");
      await untilAnswer("second begins,");
      await page.reload();
      await untilAnswer("second begins,");
      await untilStatus("streaming");
      server.open("second");
      await untilAnswer("second begins, and ends.");
      await untilStatus("ready");
    });

    it("stops, and the next message begins a new turn", async () => {
      await say("third");
      await untilAnswer("third begins,");
      await page.locator("#stop").click();
      await page.locator("main.stopped").waitFor();
      await untilStatus("ready");
      await say("fourth");
      await untilAnswer("fourth begins,");
      server.open("fourth");
      await untilAnswer("fourth begins, and ends.");
      expect(await answer().textContent()).not.toContain("third");
    });

    it("asks, and the next message is the answer, also after a kill of the server", async () => {
      await say("asks");
      await untilAnswer("asks begins,");
      server.open("asks");
      await untilAnswer("Where to?");
      await untilStatus("ready");
      await server.server.kill();
      await server.start();
      await say("Rome");
      await untilAnswer("To Rome");
    });
  });

  it("HttpAgent of AG-UI streams an answer, and an interrupt is resumed", async () => {
    const page = await openPage(browser, server.url, await bundle(folder as string, "ag-ui", AG_UI));
    const until = (text: string): Promise<void> => page.locator("#said").filter({ hasText: text }).waitFor();
    const say = async (text: string): Promise<void> => {
      await page.locator("input").fill(text);
      await page.locator("#send").click();
    };
    await say("asks");
    await until("assistant: asks begins, ");
    await until("assistant: Where to?");
    await page.locator("output").filter({ hasText: "finished" }).waitFor();
    await say("Oslo");
    await until("assistant: To Oslo");
  });
});
