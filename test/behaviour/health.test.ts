import { afterEach, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent.ts";
import { rpc, said, until } from "../support/client.ts";
import { serve, type TestServer } from "../support/server.ts";
import { createTinyDisk } from "../support/tiny-disk.ts";

let server: TestServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

const ECHO: AgentDefinition = { name: "echo", run: task => task.text };
const get = async (url: string) => {
  const reply = await fetch(url);
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
};

describe("health", () => {
  it("tells that the server is alive, ready, and what it is", async () => {
    const hidden: AgentDefinition = { name: "hidden", tenants: ["acme"], run: () => "" };
    server = await serve([ECHO, hidden]);
    expect(await get(`${server.url}/livez`)).toEqual({ status: 200, body: { status: "alive" } });
    expect(await get(`${server.url}/readyz`)).toEqual({
      status: 200,
      body: { status: "ready", checks: { store: "ok", runner: "ok", open: "ok" } },
    });
    expect(await get(`${server.url}/info`)).toMatchObject({
      status: 200,
      body: { name: "dragoman", version: expect.stringMatching(/^\d+\./), agents: ["echo"] },
    });
    const head = await fetch(`${server.url}/readyz`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(head.headers.get("cache-control")).toBe("no-store");
  });

  it("is below one path, if that is wished", async () => {
    server = await serve([ECHO], { healthPrefix: "/internal/health" });
    expect((await get(`${server.url}/internal/health/livez`)).status).toBe(200);
    expect((await get(`${server.url}/livez`)).status).toBe(404);
  });

  it("a path that hides an agent is refused at the start", async () => {
    await expect(serve([ECHO], { healthPrefix: "/agents" })).rejects.toThrow(
      '/agents/livez is taken by /agents/{agent}: choose another --health-prefix than "/agents".',
    );
  });

  it("a server that stops is not ready, and says so at its admin port to the end", async () => {
    const stuck = Promise.withResolvers<void>();
    const slow: AgentDefinition = { name: "slow", run: () => stuck.promise.then(() => "done") };
    const stopping = await serve([slow], { adminPort: 0, drainMs: 60_000 });
    const later = { ...said("a"), configuration: { returnImmediately: true } };
    await rpc(stopping.url, "SendMessage", later);
    await until(() => stopping.running === 1);
    const stopped = stopping.stop();
    await until(async () => (await get(`${stopping.admin}/readyz`)).status === 503);
    expect(await get(`${stopping.admin}/readyz`)).toMatchObject({
      body: { status: "not ready", checks: { store: "ok", open: "stopping" } },
    });
    expect((await get(`${stopping.admin}/livez`)).status).toBe(200);
    stuck.resolve();
    await stopped;
    await expect(fetch(`${stopping.admin}/livez`)).rejects.toThrow();
  });

  it("a server whose store cannot write is not ready, until it can again", async context => {
    const disk = createTinyDisk(4);
    if (!disk) return context.skip("this user may not mount a disk");
    try {
      const on = await serve([ECHO], { data: `${disk.path}/data` });
      server = on;
      disk.fill();
      await until(async () => (await get(`${on.url}/readyz`)).status === 503);
      expect((await get(`${on.url}/readyz`)).body).toMatchObject({ checks: { store: "cannot write" } });
      const told = on.log.lines.filter(line => /not ready/.test(line.text));
      expect(told).toHaveLength(1);
      disk.free();
      await until(async () => (await get(`${on.url}/readyz`)).status === 200);
      await on.stop();
      server = undefined;
    } finally {
      disk.remove();
    }
  });
});
