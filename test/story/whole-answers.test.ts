import { Client } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Ctx } from "../../src/agent/context.ts";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import type { AgentEvent } from "../../src/ports/index.ts";
import { openStream } from "../support/client.ts";
import { RowLock } from "../support/database-lock.ts";
import { createGate, type Gate, nextTurn } from "../support/gate.ts";
import { getTask, startTask, untilState, V1 } from "../support/official-dialects.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { serve, type TestServer } from "../support/server.ts";
import { foldText, partsText } from "../support/wire.ts";

/** The output of an agent is recorded completely and in order, or the task is not completed. */

let postgres: TestPostgres;
let data: string;
let server: TestServer | undefined;
beforeAll(async () => {
  postgres = await startPostgres();
  data = await postgres.createDatabase();
}, 60_000);
afterEach(async () => {
  await server?.stop();
  server = undefined;
});
afterAll(() => postgres.stop());

type Say = (ctx: Ctx) => AsyncGenerator<AgentEvent>;

interface ChunkAgent {
  readonly agent: AgentDefinition;
  /** Attempts that were started. */
  readonly attempts: number[];
  /** Before the second chunk, before the third. */
  readonly gates: readonly [Gate, Gate];
  /** The agent has sent everything. */
  readonly done: Gate;
}

const two: Say = async function* (ctx) {
  yield ctx.text("two ");
};

/** An agent that sends three chunks, and waits at a gate before the second and the third. */
function chunkAgent(name: string, more: object = {}, second = two): ChunkAgent {
  const gates = [createGate(), createGate()] as const;
  const attempts: number[] = [];
  const done = createGate();
  const agent: AgentDefinition = {
    name,
    ...more,
    async *run(_task, ctx) {
      attempts.push(ctx.attempt);
      yield ctx.text("one ");
      await gates[0].opened;
      yield* second(ctx);
      await gates[1].opened;
      try {
        yield ctx.text("three");
      } finally {
        done.open();
      }
    },
  };
  return { agent, attempts, gates, done };
}

/**
 * A task whose second chunk waits in the database for its row, with the third chunk and the end queued behind
 * it. The lease is so long that only an event can make the task due again.
 */
async function underWay({
  agent,
  gates,
  done,
}: ChunkAgent): Promise<{ id: string; url: string; lock: RowLock }> {
  server = await serve([agent], { data, durability: "power", leaseMs: 3_600_000 });
  const { url } = server;
  const { id } = await startTask(url, V1, "speak");
  const stream = await openStream(url, "SubscribeToTask", { id });
  let text = "";
  while (!text.includes("one")) text += foldText([(await stream.next()) as never]);
  stream.close();
  const lock = await RowLock.take(data, id);
  gates[0].open();
  await lock.waiter();
  gates[1].open();
  await done.opened;
  await nextTurn();
  await nextTurn();
  return { id, url, lock };
}

const textOf = (task: { artifacts?: readonly { parts: readonly object[] }[] }): string =>
  (task.artifacts ?? []).map(artifact => partsText(artifact.parts)).join("");

async function logOf(url: string, id: string): Promise<string> {
  return foldText(await (await openStream(url, "SubscribeToTask", { id }, { "last-event-id": "0" })).all());
}

describe("the second of three chunks is being written, and its database connection ends", () => {
  it("the chunks behind it are refused, the run is repeated, and the task is completed with all chunks", async () => {
    const one = chunkAgent("cut");
    const { id, url, lock } = await underWay(one);
    await lock.endWaiter();
    await lock.end("ROLLBACK");
    await untilState(url, id, "completed");
    expect(textOf(await getTask(url, id))).toBe("one two three");
    expect(await logOf(url, id)).toBe("one two three");
    expect(one.attempts).toEqual([1, 2]);
  });

  it("an agent whose run is not repeated has failed, and not completed", async () => {
    const one = chunkAgent("cautious", { onCrash: "fail" });
    const { id, url, lock } = await underWay(one);
    await lock.endWaiter();
    await lock.end("ROLLBACK");
    await untilState(url, id, "failed");
    expect(textOf(await getTask(url, id))).toBe("one ");
    expect(one.attempts).toEqual([1]);
  });
});

describe("another write of a run is in flight, and its database connection ends", () => {
  it("usage is counted once, with the chunks of the attempt that ended", async () => {
    const one = chunkAgent("spender", {}, async function* (ctx) {
      yield ctx.usage({ inputTokens: 5 });
      yield ctx.text("two ");
    });
    const { id, url, lock } = await underWay(one);
    await lock.endWaiter();
    await lock.end("ROLLBACK");
    await untilState(url, id, "completed");
    expect(textOf(await getTask(url, id))).toBe("one two three");
    expect(one.attempts).toEqual([1, 2]);
    const side = new Client({ connectionString: data });
    await side.connect();
    const spent = await side.query(
      "SELECT u.total FROM usage u JOIN task t ON t.owner = u.owner WHERE t.id = $1",
      [id],
    );
    await side.end();
    expect(spent.rows).toEqual([{ total: 5 }]);
  });

  it("a recorded step is not repeated, and another one is", async () => {
    const done: string[] = [];
    const one = chunkAgent("stepper", {}, async function* (ctx) {
      // Beside the chunks: the step's record is in flight while they are sent.
      void ctx.step("second", () => void done.push("second")).catch(() => {});
      yield ctx.text("two ");
    });
    const { run } = one.agent;
    const agent: AgentDefinition = {
      ...one.agent,
      async *run(task, ctx) {
        await ctx.step("first", () => void done.push("first"));
        yield* run(task, ctx) as AsyncGenerator<AgentEvent>;
      },
    };
    const { id, url, lock } = await underWay({ ...one, agent });
    await lock.endWaiter();
    await lock.end("ROLLBACK");
    await untilState(url, id, "completed");
    expect(textOf(await getTask(url, id))).toBe("one two three");
    expect(done).toEqual(["first", "second", "second"]);
  });
});

describe("the second of three chunks is being written, and another node's event is first", () => {
  it("the chunks keep their order, and none is missing", async () => {
    const one = chunkAgent("overtaken");
    const { id, url, lock } = await underWay(one);
    await lock.append({ type: "shown" });
    await lock.end("COMMIT");
    await untilState(url, id, "completed");
    expect(textOf(await getTask(url, id))).toBe("one two three");
    expect(await logOf(url, id)).toBe("one two three");
    expect(one.attempts).toEqual([1]);
  });

  it("a cancel ends the task as canceled, with the chunks in order", async () => {
    const one = chunkAgent("canceled");
    const { id, url, lock } = await underWay(one);
    await lock.append({ type: "cancel" });
    await lock.end("COMMIT");
    await untilState(url, id, "canceled");
    expect(textOf(await getTask(url, id))).toBe("one two three");
    expect(one.attempts).toEqual([1]);
  });
});
