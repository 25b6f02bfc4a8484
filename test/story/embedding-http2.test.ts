import { connect, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { Hono } from "hono";
import { afterEach, expect, test } from "vitest";
import { createHandler } from "../../src/index.ts";
import { echo } from "../support/agents.ts";
import { sendParams, until } from "../support/client.ts";

/** Hosts that listen with HTTP/2: docs/guide/embedding.md says which can. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function mount() {
  const mounted = await createHandler({ agents: [echo], data: ":memory:" }, { path: "/a2a" });
  closing.push(mounted.close);
  return mounted;
}

const HOSTS: Readonly<Record<string, () => Promise<{ address(): AddressInfo | string | null }>>> = {
  "node:http2": async () => {
    const { handler } = await mount();
    const server = createServer((request, response) => {
      request.url = request.url.replace(/^\/a2a/, "") || "/";
      handler(request as never, response as never);
    }).listen(0, "127.0.0.1");
    closing.push(() => server.close());
    return server;
  },
  Fastify: async () => {
    const { handler } = await mount();
    const app = fastify({ http2: true });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, _body, done) => done(null));
    const pass = (request: unknown, reply: unknown): void => {
      (reply as FastifyReply).hijack();
      handler((request as FastifyRequest).raw, (reply as FastifyReply).raw);
    };
    app.all("/a2a", pass as never);
    await app.listen({ port: 0, host: "127.0.0.1" });
    closing.push(() => app.close());
    return app.server;
  },
  Hono: async () => {
    const { fetch } = await mount();
    const app = new Hono();
    app.mount("/a2a", fetch);
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1", createServer });
    closing.push(() => server.close());
    return server;
  },
};

async function call(port: number, method: string): Promise<string> {
  const session = connect(`http://127.0.0.1:${port}`);
  const stream = session.request({
    ":method": "POST",
    ":path": "/a2a",
    "content-type": "application/json",
    "a2a-version": "1.0",
  });
  stream.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: sendParams("hi") }));
  const text = Buffer.concat(await stream.toArray()).toString();
  session.close();
  return text;
}

test.each(Object.keys(HOSTS))("%s serves calls and streams over HTTP/2", async name => {
  const server = await (HOSTS[name] as (typeof HOSTS)[string])();
  await until(() => server.address() !== null);
  const { port } = server.address() as AddressInfo;
  expect(await call(port, "SendMessage")).toContain("TASK_STATE_COMPLETED");
  expect(await call(port, "SendStreamingMessage")).toMatch(/^id: 2\ndata: .*TASK_STATE_COMPLETED/s);
});
