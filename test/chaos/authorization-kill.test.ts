import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Child, endChildren, startChild } from "../support/child.ts";
import { Browser, type FakeProvider, startProvider } from "../support/oauth-provider.ts";
import { type Loose, rpcResult, untilState, V1 } from "../support/official-dialects.ts";
import { tempFolder } from "../support/server.ts";

/** A server that is killed at any point of an authorization keeps the task, the link and the credentials. */

const AGENT = `
export default {
  name: "issues",
  async run(task, ctx) {
    const found = await ctx.credentials("github");
    return found ? "I know " + found.accessToken : ctx.askAuth({ name: "github" });
  },
};`;

const folder = tempFolder();
let provider: FakeProvider;
let server: Child;
beforeEach(async () => {
  provider = await startProvider();
  writeFileSync(join(folder.path, "issues.ts"), AGENT);
  server = await start();
});
afterEach(async () => {
  await endChildren();
  await provider.close();
  folder.remove();
});

const start = (port?: number): Promise<Child> =>
  startChild({
    agents: [join(folder.path, "issues.ts")],
    data: join(folder.path, "data"),
    env: { DRAGOMAN_OAUTH: JSON.stringify({ github: provider.config }) },
    ...(port !== undefined && { port }),
  });
async function killAndStart(): Promise<void> {
  await server.kill();
  server = await start(server.port);
}
const send = async (text: string): Promise<Loose> =>
  (await rpcResult(server.url, V1.send, V1.sendParams(text))).task;

it("the request for credentials, the credentials and the reply survive a kill", async () => {
  const task = await send("hi");
  const { url } = task.status.message.parts[1].data.authorization;
  await killAndStart();
  const browser = new Browser();
  provider.behaviour = "declines";
  await browser.open(url);
  await killAndStart();
  // The visit began with the killed server.
  const state = encodeURIComponent(provider.visits[0]?.get("state") as string);
  provider.behaviour = "kind";
  expect((await browser.open(`${server.url}/oauth/callback?code=wrong&state=${state}`)).status).toBe(502);
  expect((await browser.open(url)).status).toBe(200);
  await killAndStart();
  const end = await untilState(server.url, task.id, "completed");
  expect(JSON.stringify(end)).toContain("I know access-");
  expect(JSON.stringify(await send("again"))).toContain("I know access-");
  expect((await new Browser().open(url)).status).toBe(410);
});
