import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { openStream, until } from "../support/client.ts";
import { getTask, type Loose, rpcResult, startTask, untilState, V1 } from "../support/official-dialects.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";
import { idsOf, isAscending } from "../support/wire.ts";

/** The system clock is set back, by an operator or by a time server. */

const HOUR = 3_600_000;
let folder: ReturnType<typeof tempFolder>;
let server: TestServer | undefined;
const puppet = createScriptedAgent();

beforeEach(() => {
  folder = tempFolder();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 5, 1, 12) });
});
afterEach(async () => {
  vi.useRealTimers();
  await server?.stop();
  server = undefined;
  folder.remove();
});

const start = async (): Promise<string> => {
  const agents: readonly AgentDefinition[] = [echo, puppet.definition];
  server = await serve(agents, { data: folder.path, drainMs: 20 });
  return server.url;
};
const setBack = (ms: number): void => void vi.setSystemTime(Date.now() - ms);
const send = async (url: string): Promise<string> =>
  V1.taskIn(await rpcResult(url, "SendMessage", V1.sendParams("hello"))).id;
const timesOf = (task: Loose): string => task.status.timestamp;

async function expectInOrder(url: string, ids: readonly string[]): Promise<void> {
  expect(ids.toSorted()).toEqual(ids);
  const { tasks } = await rpcResult(url, "ListTasks", { pageSize: 100 });
  expect(tasks.map((task: Loose) => task.id)).toEqual(ids.toReversed());
  const times: string[] = tasks.map(timesOf).reverse();
  expect(times.toSorted()).toEqual(times);
}

test("while a server runs: ids and times continue to grow, and lists are in order", async () => {
  const url = await start();
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push(await send(url));
  setBack(HOUR);
  for (let i = 0; i < 3; i++) ids.push(await send(url));
  await expectInOrder(url, ids);
  // A list that was begun before the jump continues after it.
  const first = await rpcResult(url, "ListTasks", { pageSize: 4 });
  setBack(HOUR);
  ids.push(await send(url));
  const rest = await rpcResult(url, "ListTasks", { pageSize: 4, pageToken: first.nextPageToken });
  expect([...first.tasks, ...rest.tasks].map(task => task.id)).toEqual(ids.slice(0, 6).toReversed());
  const since = timesOf(await getTask(url, ids[5] as string));
  const newer = await rpcResult(url, "ListTasks", { statusTimestampAfter: since });
  expect(newer.tasks.map((task: Loose) => task.id)).toContain(ids[6]);
});

test("between two starts: everything after the restart is later than everything before it", async () => {
  let url = await start();
  const ids = [await send(url), await send(url)];
  await server?.stop();
  setBack(HOUR);
  url = await start();
  ids.push(await send(url), await send(url));
  await expectInOrder(url, ids);
});

test("a task that was streaming when the server was stopped: its log continues, and its times do not go back", async () => {
  const home = (url: string): string => `${url}/agents/puppet`;
  let url = await start();
  const { id } = await startTask(home(url), V1, "go");
  puppet.send(id, ctx => ctx.status("begun"));
  await untilState(home(url), id, "working");
  // Chunks long after the last status have the newest recorded time.
  vi.setSystemTime(Date.now() + HOUR);
  puppet.send(id, ctx => ctx.text("before "));
  await until(async () => (await getTask(home(url), id)).artifacts !== undefined);
  const newest = Date.now();
  await server?.stop();
  setBack(2 * HOUR);
  url = await start();
  puppet.send(id, ctx => ctx.text("after"));
  puppet.end(id);
  const done = await untilState(home(url), id, "completed");
  expect(Date.parse(timesOf(done))).toBeGreaterThanOrEqual(newest);
  const stream = await openStream(home(url), "SubscribeToTask", { id }, { "last-event-id": "0" });
  const events = await stream.all();
  expect(isAscending(idsOf(events))).toBe(true);
  const times = events.flatMap(event => event.data.result.statusUpdate?.status.timestamp ?? []);
  expect(times.toSorted()).toEqual(times);
});
