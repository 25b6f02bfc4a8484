import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { openStream } from "../support/client.ts";
import { getTask, rpcResult, startTask, untilState, V1 } from "../support/official-dialects.ts";
import { hasPooler, NO_POOLER, startPooler, type TestPooler } from "../support/pooler.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { serve, type TestServer } from "../support/server.ts";

/** Nodes that reach their Postgres through PgBouncer in transaction mode. */

let postgres: TestPostgres;
let nodes: TestServer[] = [];
let poolers: TestPooler[] = [];
beforeAll(async () => {
  postgres = await startPostgres();
});
afterEach(async () => {
  await Promise.all(nodes.map(node => node.stop()));
  nodes = [];
  await Promise.all(poolers.map(pooler => pooler.stop()));
  poolers = [];
});
afterAll(() => postgres.stop());

async function pool(ignore?: readonly string[]): Promise<TestPooler> {
  const pooler = await startPooler(postgres.url, ignore);
  poolers.push(pooler);
  return pooler;
}

describe.skipIf(!hasPooler)(`through PgBouncer${hasPooler ? "" : `: ${NO_POOLER}`}`, () => {
  it("a task runs on one node and is streamed from another; nodes notify each other on a direct connection", async () => {
    const direct = await postgres.createDatabase();
    const data = (await pool()).through(direct);
    const puppet = createScriptedAgent();
    const start = async (): Promise<TestServer> => {
      const node = await serve([puppet.definition, echo], { data, databaseDirectUrl: direct });
      nodes.push(node);
      return node;
    };
    const [a, b] = [await start(), await start()];
    const { id } = await startTask(a.url, V1, "go");
    await untilState(b.url, id, "working");
    const stream = await openStream(b.url, "SubscribeToTask", { id });
    await stream.next();
    puppet.send(id, ctx => ctx.text("through the pooler"));
    puppet.end(id);
    const events = await stream.all();
    expect(events.at(-1)?.data.result.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
    expect((await getTask(b.url, id)).artifacts[0].parts[0].text).toBe("through the pooler");
    const sends = Array.from({ length: 20 }, (_, i) =>
      rpcResult(`${(i % 2 ? a : b).url}/agents/echo`, "SendMessage", V1.sendParams(`${i}`), {
        "idempotency-key": `${i}`,
      }),
    );
    const states = (await Promise.all(sends)).map(result => V1.stateOf(V1.taskIn(result)));
    expect(new Set(states)).toEqual(new Set(["completed"]));
  });

  it("a server that could not receive notifications refuses to start, and the message names the option", async () => {
    const data = (await pool()).through(await postgres.createDatabase());
    await expect(serve([echo], { data })).rejects.toThrow(/--database-direct-url/);
  });

  it("also if the pooler refuses nothing", async () => {
    const ignored = ["statement_timeout", "idle_in_transaction_session_timeout", "options"];
    const data = (await pool(ignored)).through(await postgres.createDatabase());
    await expect(serve([echo], { data })).rejects.toThrow(/--database-direct-url/);
  });
});
