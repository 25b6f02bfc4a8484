import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { rpc, sendParams, until } from "../support/client.ts";
import { startPostgres } from "../support/postgres.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
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
  it("reports that the server is alive and ready, with its version", async () => {
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

  it("is below one path, if configured", async () => {
    server = await serve([ECHO], { healthPrefix: "/internal/health" });
    expect((await get(`${server.url}/internal/health/livez`)).status).toBe(200);
    expect((await get(`${server.url}/livez`)).status).toBe(404);
  });

  it("a path that hides an agent is refused at startup", async () => {
    await expect(serve([ECHO], { healthPrefix: "/agents" })).rejects.toThrow(
      'The path /agents/livez belongs to /agents/{agent}. Choose another --health-prefix than "/agents".',
    );
  });

  it("a server that stops is not ready, and reports it at its admin port to the end", async () => {
    const stuck = Promise.withResolvers<void>();
    const slow: AgentDefinition = { name: "slow", run: () => stuck.promise.then(() => "done") };
    const stopping = await serve([slow], { adminPort: 0, drainMs: 60_000 });
    const later = { ...sendParams("a"), configuration: { returnImmediately: true } };
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
      const notReady = on.log.lines.filter(line => /not ready/.test(line.text));
      expect(notReady).toHaveLength(1);
      disk.free();
      await until(async () => (await get(`${on.url}/readyz`)).status === 200);
      await on.stop();
      server = undefined;
    } finally {
      disk.remove();
    }
  });

  /** Lets commits fail that create a task, and no others: a commit without changes succeeds. */
  type Jam = { readonly data: string; set(on: boolean): Promise<void>; end(): Promise<void> };

  function jamSqlite(): Jam {
    const folder = tempFolder();
    return {
      data: folder.path,
      async set(on) {
        const db = new DatabaseSync(join(folder.path, "dragoman.db"), { timeout: 5_000 });
        db.exec(
          on
            ? "CREATE TRIGGER jam BEFORE INSERT ON task BEGIN SELECT RAISE(ABORT, 'jammed'); END"
            : "DROP TRIGGER jam",
        );
        db.close();
      },
      end: async () => folder.remove(),
    };
  }

  async function jamPostgres(): Promise<Jam> {
    const postgres = await startPostgres();
    const data = await postgres.createDatabase();
    return {
      data,
      async set(on) {
        const client = new pg.Client(data);
        await client.connect();
        await client.query(
          on
            ? "CREATE FUNCTION jam() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'jammed'; END $$; " +
                "CREATE TRIGGER jam BEFORE INSERT ON task EXECUTE FUNCTION jam()"
            : "DROP TRIGGER jam ON task",
        );
        await client.end();
      },
      end: () => postgres.stop(),
    };
  }

  it.each(["SQLite", "Postgres"])(
    "a server whose commits fail is not ready, until they succeed (%s)",
    async kind => {
      const jam = kind === "SQLite" ? jamSqlite() : await jamPostgres();
      try {
        const on = await serve([ECHO], { data: jam.data });
        server = on;
        const send = async () => (await rpc(on.url, "SendMessage", sendParams("a"))).status;
        expect(await send()).toBe(200);
        await jam.set(true);
        const failing = { status: 503, body: { checks: { store: "a commit failed" } } };
        for (let i = 0; i < 2; i++) {
          expect(await send()).toBe(503);
          let readiness = await get(`${on.url}/readyz`);
          await until(async () => (readiness = await get(`${on.url}/readyz`)).status === 503);
          expect(readiness).toMatchObject(failing);
          // No other commit follows: a probe without changes succeeds, and that is enough.
          await until(async () => (await get(`${on.url}/readyz`)).status === 200);
        }
        expect(await send()).toBe(503);
        await jam.set(false);
        expect(await send()).toBe(200);
        await until(async () => (await get(`${on.url}/readyz`)).status === 200);
        expect(on.log.lines.filter(line => /not ready/.test(line.text)).length).toBeGreaterThan(0);
        await on.stop();
        server = undefined;
      } finally {
        await jam.end();
      }
    },
  );
});
