import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Ctx } from "../../src/agent/context.ts";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { openStream } from "../support/client.ts";
import { hasNats, NO_NATS, startNats, type TestNats } from "../support/nats.ts";
import { getTask, rpcResult, startTask, V1 } from "../support/official-dialects.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { serve, type TestServer } from "../support/server.ts";

/** Nodes that share one Postgres and notify each other over NATS. */

describe.skipIf(!hasNats)(`notified over NATS${hasNats ? "" : `: ${NO_NATS}`}`, () => {
  let postgres: TestPostgres;
  let nats: TestNats;
  let nodes: TestServer[] = [];
  beforeAll(async () => {
    [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
  });
  afterEach(async () => {
    await Promise.all(nodes.map(node => node.stop()));
    nodes = [];
  });
  afterAll(async () => {
    await Promise.all([postgres.stop(), nats.stop()]);
  });

  const counter: AgentDefinition = {
    name: "counter",
    async *run(_task, ctx: Ctx) {
      for (let i = 1; !ctx.signal.aborted; i++) {
        yield ctx.text(`${i} `);
        await sleep(5, undefined, { signal: ctx.signal }).catch(() => {});
      }
    },
  };

  it("a task is streamed from another node than the one that runs it, also during a restart of NATS, and canceled from a third", async () => {
    const data = await postgres.createDatabase();
    nodes = await Promise.all([1, 2, 3].map(() => serve([counter], { data, notify: nats.url })));
    const [a, b, c] = nodes as [TestServer, TestServer, TestServer];
    const { id } = await startTask(a.url, V1, "go");
    const streams = await Promise.all(nodes.map(node => openStream(node.url, "SubscribeToTask", { id })));
    const [, stream] = streams as [unknown, (typeof streams)[0]];
    for (let i = 0; i < 20; i++) await stream.next();
    await nats.restart();
    for (let i = 0; i < 20; i++) await stream.next();
    await rpcResult(c.url, "CancelTask", { id });
    const ends = await Promise.all(streams.map(async one => (await one.all()).at(-1)));
    for (const end of ends) expect(end?.data.result.statusUpdate.status.state).toBe("TASK_STATE_CANCELED");
    expect((await getTask(b.url, id)).artifacts[0].parts[0].text).toMatch(/^1 2 3 /);
  });
});
