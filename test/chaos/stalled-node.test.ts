import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Child, endChildren, startChild, writeAgent } from "../support/child.ts";
import { until } from "../support/client.ts";
import { getTask, rpcResult, startTask, untilState, V1 } from "../support/official-dialects.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { tempFolder } from "../support/server.ts";

/**
 * A process that is stopped for longer than its lease (a paused machine, a long computation) has lost its
 * runs.
 */

let folder: ReturnType<typeof tempFolder>;
let postgres: TestPostgres;
beforeEach(async () => {
  folder = tempFolder();
  postgres = await startPostgres();
});
afterEach(async () => {
  await endChildren();
  folder.remove();
});

const file = (name: string): string => join(folder.path, name);
const trail = (): readonly string[] =>
  existsSync(file("trail")) ? readFileSync(file("trail"), "utf8").trim().split("\n") : [];

/**
 * Its first attempt blocks the whole process between two steps until there is a file; the next one continues
 * at once.
 */
const work = (): string => `
    const { appendFileSync, existsSync } = await import("node:fs");
    const mark = word => appendFileSync(${JSON.stringify(file("trail"))}, word + "\\n");
    const step = name => ctx.step(name, () => mark(name + " " + ctx.attempt));
    await step("one");
    if (ctx.attempt === 1) {
      mark("stalled " + process.pid);
      const clock = new Int32Array(new SharedArrayBuffer(4));
      // No process stays behind if the test itself is ended.
      const test = process.ppid;
      while (!existsSync(${JSON.stringify(file("on"))}) && process.ppid === test) Atomics.wait(clock, 0, 0, 10);
    }
    const two = step("two").then(() => "two is done", error => error.message);
    mark("attempt " + ctx.attempt + ": " + await two);
    yield ctx.text("by attempt " + ctx.attempt);`;

test("a run that continues after its lease has expired begins no step that another run has finished meanwhile", async () => {
  const data = await postgres.createDatabase();
  const agents = [writeAgent(folder.path, "worker", work())];
  const flags = ["--lease-ms", "1000", "--log-level", "error"];
  const nodes = await Promise.all([1, 2].map(() => startChild({ agents, data, flags })));
  // The node that takes the call may run it, and may stall before it has answered.
  const called = startTask((nodes[0] as Child).url, V1, "go");
  const stalled = (): string | undefined => trail().find(line => line.startsWith("stalled"));
  await until(() => stalled() !== undefined);
  const other = nodes.find(node => !stalled()?.endsWith(` ${node.pid}`)) as Child;
  const { tasks } = await rpcResult(other.url, "ListTasks", {});
  const id = tasks[0].id as string;
  await untilState(other.url, id, "completed");
  writeFileSync(file("on"), "");
  await until(() => trail().some(line => line.startsWith("attempt 1:")));
  expect(trail().filter(line => !line.startsWith("stalled"))).toEqual([
    "one 1",
    "two 2",
    "attempt 2: two is done",
    "attempt 1: the run was lost",
  ]);
  expect((await called).id).toBe(id);
  expect((await getTask(other.url, id)).artifacts[0].parts[0].text).toBe("by attempt 2");
});
