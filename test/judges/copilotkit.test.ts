import type { Browser } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { hasBrowser, launchBrowser } from "../support/console.ts";
import { RestartableServer } from "../support/restartable-server.ts";
import { installPackages } from "./install.ts";
import { bundle, openPage } from "./page.ts";

/** The chat of CopilotKit, which brings a client of AG-UI before 1.0, without a runtime of its own. */

const folder = hasBrowser
  ? installPackages("copilotkit", ["react@19.3.1", "react-dom@19.3.1", "@copilotkit/react-core@1.74.0"])
  : undefined;

const PAGE = `
import { createElement as h } from "react";
import { createRoot } from "react-dom/client";
import { CopilotChat, CopilotKitProvider, HttpAgent } from "@copilotkit/react-core/v2";
const agents = { default: new HttpAgent({ url: "/agents/worker/ag-ui" }) };
const chat = h(CopilotChat, { threadId: "thread-1" });
createRoot(document.getElementById("root")).render(
  h(CopilotKitProvider, { agents__unsafe_dev_only: agents, showDevConsole: false }, chat));
`;

describe.skipIf(folder === undefined)("CopilotKit", () => {
  const server = new RestartableServer();
  let browser: Browser | undefined;
  afterAll(async () => {
    await browser?.close();
    await server.server?.kill();
    server.remove();
  });

  it("sends a message and shows the answer as it is written, without any other server", async () => {
    const script = await bundle(folder as string, "copilotkit", PAGE);
    await server.start('yield ctx.text("Hello "); await gate("go"); yield ctx.text(task.text);');
    browser = await launchBrowser();
    const page = await openPage(browser, server.url, script);
    const foreign: string[] = [];
    page.on("request", request => {
      if (!request.url().startsWith(server.url)) foreign.push(request.url());
    });
    const until = (text: string): Promise<void> => page.locator("#root").filter({ hasText: text }).waitFor();
    await page.locator("textarea").first().fill("Ada");
    await page.locator("textarea").first().press("Enter");
    await until("Hello");
    server.open("go");
    await until("Hello Ada");
    expect(foreign).toEqual([]);
  });
});
