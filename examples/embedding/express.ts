import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createHandler } from "dragoman";
import express from "express";
import { type Host, hello } from "./_agent.ts";

export async function start(port: number): Promise<Host> {
  const dragoman = await createHandler({ agents: [hello], data: ":memory:" });
  const app = express();
  app.use("/a2a", dragoman.handler);
  app.get("/", (_request, response) => void response.send("an application of Express"));
  const server = app.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a2a`,
    async close() {
      server.close();
      await dragoman.close();
    },
  };
}

if (import.meta.main) process.stdout.write(`${(await start(3000)).url}\n`);
