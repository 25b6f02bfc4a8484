import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { createHandler } from "dragoman";
import { Hono } from "hono";
import { type Host, hello } from "./_agent.ts";

export async function start(port: number): Promise<Host> {
  const dragoman = await createHandler({ agents: [hello], data: ":memory:" }, { path: "/a2a" });
  const app = new Hono();
  app.mount("/a2a", dragoman.fetch);
  app.get("/", context => context.text("an application of Hono"));
  const server = serve({ fetch: app.fetch, port, hostname: "127.0.0.1" });
  if (!server.listening) await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a2a`,
    async close() {
      server.close();
      await dragoman.close();
    },
  };
}

if (import.meta.main) process.stdout.write(`${(await start(3000)).url}\n`);
