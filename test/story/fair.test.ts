import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { until } from "../support/client.ts";
import { rpcResult, V1 } from "../support/official-dialects.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { serve, type TestServer } from "../support/server.ts";

/** A tenant with a long queue does not make another one wait behind it. */

let server: TestServer;
let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
}, 60_000);
afterEach(() => server.stop());
afterAll(() => postgres.stop());

const NOISY = 100;
const QUIET = 10;

for (const store of ["memory", "Postgres"])
  it(`a busy tenant does not slow another: the tenants take turns, however long the queue of one is (${store})`, async () => {
    const begun: string[] = [];
    let free = (): void => {};
    const worker: AgentDefinition = {
      name: "worker",
      replies: "task",
      async run(task, ctx) {
        begun.push(ctx.caller.tenant);
        await new Promise<void>(resolve => (free = resolve));
        return task.text;
      },
    };
    const data = store === "memory" ? ":memory:" : await postgres.createDatabase();
    server = await serve([worker], { runsMax: 1, data });
    const send = (tenant: string, text: string) =>
      rpcResult(server.url, "SendMessage", {
        ...V1.sendParams(text),
        tenant,
        configuration: { returnImmediately: true },
      });
    await Promise.all(Array.from({ length: NOISY }, (_, i) => send("noisy", `n${i}`)));
    await Promise.all(Array.from({ length: QUIET }, (_, i) => send("quiet", `q${i}`)));
    for (let done = 1; done <= NOISY + QUIET; done++) {
      await until(() => begun.length === done);
      free();
    }
    // With turns, one busy task runs for each quiet one; without, all busy tasks would be first.
    const noisyBefore = begun
      .slice(0, begun.lastIndexOf("quiet"))
      .filter(tenant => tenant === "noisy").length;
    expect(noisyBefore / QUIET).toBeLessThanOrEqual(1.2);
  });
