import { get, type IncomingMessage } from "node:http";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { Browser, type FakeProvider, startProvider } from "../support/oauth-provider.ts";
import { rpcResult, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer } from "../support/server.ts";

/** The redirect URI of an OAuth provider is the server's own address, and not the Host of a request. */

const github: AgentDefinition = {
  name: "issues",
  run: async (_task, ctx) => ((await ctx.credentials("github")) ? "done" : ctx.askAuth({ name: "github" })),
};

let provider: FakeProvider;
let server: TestServer;
beforeEach(async () => {
  provider = await startProvider();
  server = await serve([github], { oauth: { github: provider.config } });
});
afterEach(async () => {
  await server.stop();
  await provider.close();
});

/** `fetch` does not allow a program to set Host. */
const visit = (port: string, path: string, host: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get({ port, host: "127.0.0.1", path, headers: { host } }, resolve).on("error", reject);
  });

it("a Host that the caller chose is redirected to the server's own address first", async () => {
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] };
  const { task } = await rpcResult(server.url, V1.send, { message }, { "a2a-version": "1.0" });
  const link = new URL(task.status.message.parts[1].data.authorization.url);
  // Another port passes the host check, which compares names only.
  for (const host of ["localhost:1", "127.0.0.1:1"]) {
    const reply = await visit(link.port, link.pathname + link.search, host);
    reply.resume();
    expect([host, reply.statusCode, reply.headers.location]).toEqual([host, 302, link.href]);
    expect(reply.headers["set-cookie"]).toBeUndefined();
  }
  expect((await new Browser().open(link.href)).status).toBe(200);
  expect(provider.visits.map(asked => asked.get("redirect_uri"))).toEqual([`${server.url}/oauth/callback`]);
});
