import { equal, match } from "node:assert/strict";
import { start as startExpress } from "./express.ts";
import { start as startFastify } from "./fastify.ts";
import { createFetch } from "./fetch.ts";
import { start as startHono } from "./hono.ts";

type Fetch = (request: Request) => Promise<Response>;

const call = (url: string, method: string): Request =>
  new Request(url, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { message: { messageId: "1", role: "ROLE_USER", parts: [{ text: "Ada" }] } },
    }),
  });

/** Card, answer and stream of the agent, beside the pages of the host. */
async function check(base: string, page: string, fetch: Fetch): Promise<void> {
  const agent = `${base}/agents/hello`;
  const card = await fetch(new Request(`${agent}/.well-known/agent-card.json`));
  match(await card.text(), new RegExp(`"url":"${agent}"`));
  match(await (await fetch(call(agent, "SendMessage"))).text(), /"text":"Hello, Ada!"/);
  const stream = await fetch(call(agent, "SendStreamingMessage"));
  equal(stream.headers.get("content-type"), "text/event-stream");
  match(await stream.text(), /"text":"Hello, ".*"text":"Ada!".*TASK_STATE_COMPLETED/s);
  match(await (await fetch(new Request(page))).text(), /^an application of /);
}

for (const start of [startExpress, startFastify, startHono]) {
  const host = await start(0);
  await check(host.url, new URL("/", host.url).href, fetch);
  await host.close();
}
const direct = await createFetch();
await check(direct.base, `${direct.base}/`, direct.fetch);
await direct.close();
process.stdout.write("ok\n");
