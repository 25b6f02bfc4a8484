import { afterEach, expect, it } from "vitest";
import { consoleModeOf } from "../../src/server/open-auth.ts";
import { echo } from "../support/agents.ts";
import { rpc, sendParams } from "../support/client.ts";
import { serve, type TestServer } from "../support/server.ts";

/** The page of the console as browsers load it. */

let server: TestServer;
afterEach(() => server.stop());

const HTML = { accept: "text/html,application/xhtml+xml" };

it("browsers that open / are sent to the console, and programs get JSON", async () => {
  server = await serve([echo]);
  const browser = await fetch(`${server.url}/`, { headers: HTML, redirect: "manual" });
  expect([browser.status, browser.headers.get("location")]).toEqual([302, "console/"]);
  const program = await fetch(`${server.url}/`);
  expect(program.headers.get("content-type")).toBe("application/json");
});

it.each(["/docs", "/docs/"])("%s leads to the documents in the console", async path => {
  server = await serve([echo]);
  const reply = await fetch(`${server.url}${path}`, { redirect: "manual" });
  const location = new URL(reply.headers.get("location") ?? "", `${server.url}${path}`);
  expect([reply.status, location.href]).toEqual([302, `${server.url}/console/docs`]);
});

it("the console is built on demand; its page has a strict policy and a relative base, its assets are immutable", async () => {
  server = await serve([echo]);
  const bare = await fetch(`${server.url}/console`, { redirect: "manual" });
  expect([bare.status, bare.headers.get("location")]).toEqual([308, "console/"]);
  const page = await fetch(`${server.url}/console/tasks/ID`, { headers: HTML });
  const html = await page.text();
  expect([page.status, html.includes('<base href="../">')]).toEqual([200, true]);
  expect(page.headers.get("content-security-policy")).toContain("require-trusted-types-for 'script'");
  const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(html)?.[1];
  const asset = await fetch(`${server.url}/console/${script}`, { headers: { "accept-encoding": "br" } });
  expect([asset.status, asset.headers.get("content-encoding"), asset.headers.get("cache-control")]).toEqual([
    200,
    "br",
    "public, max-age=31536000, immutable",
  ]);
  expect((await asset.text()).length).toBeGreaterThan(10_000);
  expect((await fetch(`${server.url}/console/assets/absent.js`)).status).toBe(404);
});

it("with the console off, neither the page nor the admin API is served", async () => {
  server = await serve([echo], { console: "off" });
  expect((await fetch(`${server.url}/console/`)).status).toBe(404);
  expect((await fetch(`${server.url}/admin/v1/me`)).status).toBe(404);
  expect((await fetch(`${server.url}/`, { headers: HTML, redirect: "manual" })).status).toBe(200);
  expect((await fetch(`${server.url}/docs`, { redirect: "manual" })).status).toBe(200);
});

it("the admin port has the page, the admin API and the agents; operators are operators there only", async () => {
  server = await serve([echo], { adminPort: 0 });
  const admin = server.admin as string;
  expect((await fetch(`${admin}/console/`, { headers: HTML })).status).toBe(200);
  const isOperatorAt = async (url: string): Promise<boolean> =>
    ((await (await fetch(`${url}/admin/v1/me`)).json()) as { isOperator: boolean }).isOperator;
  expect([await isOperatorAt(server.url), await isOperatorAt(admin)]).toEqual([false, true]);
  const { body } = await rpc(`${admin}/agents/echo`, "SendMessage", sendParams("hello"));
  expect(JSON.stringify(body)).toContain("hello");
});

it("is on for loopback addresses and with authentication, and off elsewhere unless the option is set", async () => {
  server = await serve([echo]);
  const modeOf = (given: Partial<Parameters<typeof consoleModeOf>[0]>): string =>
    consoleModeOf({ host: "127.0.0.1", auth: ["none"], console: undefined, ...given } as never, false);
  expect(modeOf({})).toBe("on");
  expect(modeOf({ host: "0.0.0.0" })).toBe("off");
  expect(modeOf({ host: "0.0.0.0", auth: ["tokens"] })).toBe("on");
  expect(modeOf({ host: "0.0.0.0", console: "read" })).toBe("read");
});
