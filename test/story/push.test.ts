import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ServerSettings } from "../../src/server/create-server.ts";
import { createScriptedAgent, echo } from "../support/agents.ts";
import { until } from "../support/client.ts";
import { createGate, nextTurn } from "../support/gate.ts";
import { type Loose, rpcError, rpcResult, V1 } from "../support/official-dialects.ts";
import { openReceiver, type Received, type Receiver } from "../support/receiver.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** Webhooks that fail, and their pending deliveries. */

let folder: ReturnType<typeof tempFolder>;
let hook: Receiver;
let server: TestServer;
let puppet: ReturnType<typeof createScriptedAgent>;

beforeEach(async () => {
  folder = tempFolder();
  hook = await openReceiver();
  puppet = createScriptedAgent();
});
afterEach(async () => {
  await server.stop();
  await hook.close();
  folder.remove();
});

async function start(more: Partial<ServerSettings> = {}): Promise<void> {
  server = await serve([echo, puppet.definition], { data: join(folder.path, "data"), drainMs: 0, ...more });
}

const push = (url: string, more: object = {}): object => ({
  configuration: { returnImmediately: true, taskPushNotificationConfig: { id: "c", url, ...more } },
});
const send = async (agent: string, text: string, url: string): Promise<string> =>
  (await rpcResult(`${server.url}/agents/${agent}`, V1.send, V1.sendParams(text, {}, push(url)))).task.id;
const look = async (taskId: string): Promise<Loose> =>
  ((await (await fetch(`${server.url}/admin/pushes?task=${taskId}`)).json()) as Loose).pushes[0];
const redeliver = async (body: object): Promise<Loose> => {
  const headers = { "content-type": "application/json" };
  const how = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${server.url}/admin/pushes/redeliver`, how);
  return { status: response.status, ...((await response.json()) as object) };
};
const summary = ({ body }: Received): string => {
  const { kind, state } = V1.toItem({ result: body });
  return state ? `${kind} ${state}` : kind;
};
const isOver = (): boolean => hook.all.map(summary).includes("status completed");
const ECHOED = ["task submitted", "status working", "artifact", "status completed"];

describe("a webhook", () => {
  test("that answers 410 is removed, and gets nothing more", async () => {
    await start();
    hook.answer = () => ({ status: 410 });
    const id = await send("puppet", "go", hook.url);
    await until(async () => (await look(id)) === undefined);
    puppet.end(id);
    const task = (): Promise<Loose> => rpcResult(`${server.url}/agents/puppet`, V1.get, { id });
    await until(async () => V1.stateOf(await task()) === "completed");
    expect(hook.all).toHaveLength(1);
  });

  test("that sends Retry-After is retried then", async () => {
    await start();
    let refusedAt = 0;
    hook.answer = (_, nth) => {
      if (nth > 1) return { status: 200 };
      refusedAt = Date.now();
      return { status: 503, headers: { "retry-after": "1" } };
    };
    const id = await send("echo", "hi", hook.url);
    await until(async () => (await look(id)).attempts.length > 0);
    const [attempt] = (await look(id)).attempts;
    expect(attempt).toMatchObject({ status: 503, error: expect.any(String), event: 2 });
    expect(Date.parse(attempt.nextAt) - refusedAt).toBeGreaterThan(900);
    await until(isOver);
    expect(hook.all.map(summary)).toEqual(["task submitted", ...ECHOED]);
  });

  test("that keeps failing is given up after a while, stays readable, and can be redelivered", async () => {
    await start({ pushGiveUpMs: 500 });
    hook.answer = () => "reset";
    const id = await send("echo", "hi", hook.url);
    await until(async () => (await look(id)).state === "dead");
    const seen = await look(id);
    const tries = hook.all.length;
    expect(tries).toBeGreaterThan(0);
    expect(seen.failed.count).toBe(tries);
    expect(seen.attempts.at(-1)).toMatchObject({ error: "connection reset" });
    expect(server.log.lines.some(line => /given up/.test(line.text))).toBe(true);
    const config = { taskId: id, id: "c" };
    expect(await rpcResult(server.url, "GetTaskPushNotificationConfig", config)).toMatchObject({ id: "c" });
    hook.answer = () => ({ status: 200 });
    expect(await redeliver({ task: id })).toMatchObject({ status: 200, redelivered: 1 });
    await until(isOver);
    expect(hook.all.slice(tries).map(summary)).toEqual(ECHOED);
    expect(hook.all[tries]?.id).toBe(hook.all[0]?.id);
    await until(async () => (await look(id)).state === "done");
    await redeliver({ task: id, config: "c", from: "start" });
    await hook.got(tries + 8);
    expect(hook.all.slice(tries + 4).map(one => one.id)).toEqual(
      hook.all.slice(tries, tries + 4).map(one => one.id),
    );
    expect(await redeliver({ task: id, config: "other" })).toMatchObject({ status: 404 });
    expect(await redeliver({ config: "c" })).toMatchObject({ status: 400 });
  });

  test("whose address resolves to a private network is not called, and given up at once", async () => {
    await start({ pushAllowLoopback: true });
    const id = await send("puppet", "go", hook.url);
    await hook.got(2);
    await server.stop();
    const count = hook.all.length;
    await start({ pushAllowLoopback: false, pushHttp: true });
    await redeliver({ task: id, from: "start" });
    await until(async () => (await look(id)).state === "dead");
    expect((await look(id)).attempts.at(-1).error).toMatch(/internal/);
    expect(hook.all).toHaveLength(count);
    const error = await rpcError(server.url, V1.send, V1.sendParams("x", {}, push(hook.url)));
    expect(error.message).toMatch(/internal address/);
  });

  test("that never answers costs little, and blocks no other", async () => {
    await start({ pushTimeoutMs: 60_000, pushesMax: 40 });
    hook.answer = ({ path }) => (path === "/hang" ? "hang" : { status: 200 });
    const other = await openReceiver();
    for (let i = 0; i < 60; i++) await send("echo", `${i}`, `${hook.url}/hang`);
    await until(() => hook.all.length >= 32);
    const id = await send("echo", "hi", `${other.url}/fine`);
    await until(async () => (await look(id)).state === "done");
    expect(hook.all.length).toBe(32);
    expect(other.all.map(summary)).toEqual(ECHOED);
    await other.close();
  });

  test("is one of several: each gets everything, whatever the others do", async () => {
    await start();
    hook.answer = ({ path }) => ({ status: path === "/bad" && hook.at("/bad").length < 5 ? 500 : 200 });
    const id = await send("puppet", "go", `${hook.url}/bad`);
    const url = `${hook.url}/good`;
    await rpcResult(`${server.url}/agents/puppet`, "CreateTaskPushNotificationConfig", { taskId: id, url });
    puppet.send(id, ctx => ctx.text("hello"));
    puppet.end(id);
    const last = (path: string): string | undefined => hook.at(path).map(summary).at(-1);
    await until(() => last("/good") === "status completed" && last("/bad") === "status completed");
    expect(new Set(hook.at("/good").map(one => one.id)).size).toBe(hook.at("/good").length);
  });

  test("that is slow gets chunks together, each exactly once", async () => {
    await start({ pushTimeoutMs: 60_000 });
    // So slow that all output is sent before its first response.
    const allSaid = createGate();
    hook.answer = async (_, nth) => {
      if (nth === 1) await allSaid.opened;
      return { status: 200 };
    };
    const id = await send("puppet", "go", hook.url);
    await hook.got(1);
    const texts = Array.from({ length: 300 }, (_, i) => `${i} `);
    for (const word of texts) {
      puppet.send(id, ctx => ctx.text(word));
      if (Number(word) % 10 === 0) await nextTurn();
    }
    puppet.end(id);
    const task = (): Promise<Loose> => rpcResult(`${server.url}/agents/puppet`, V1.get, { id });
    await until(async () => V1.stateOf(await task()) === "completed");
    allSaid.open();
    await until(isOver);
    const updates = hook.all.flatMap(({ body }) => body.artifactUpdate ?? []);
    expect(updates.map(one => one.artifact.parts[0].text).join("")).toBe(texts.join(""));
    expect(updates.length).toBeLessThan(100);
  });

  test("gets the missed events after a restart, and a repeated delivery has the same id", async () => {
    await start({ pushRetryMs: 50 });
    hook.answer = () => "hang";
    const id = await send("puppet", "go", hook.url);
    await hook.got(1);
    puppet.send(id, ctx => ctx.text("a"));
    puppet.send(id, ctx => ctx.text("b"));
    await server.stop();
    hook.answer = () => ({ status: 200 });
    await start();
    puppet.end(id);
    await until(isOver);
    expect(hook.all[0]?.id).toBe(hook.all[1]?.id);
    expect(hook.all[0]?.text).toBe(hook.all[1]?.text);
    await until(async () => (await look(id)).state === "done");
  });

  test("gets nothing after its config was deleted while it failed", async () => {
    await start({ pushRetryMs: 30 });
    hook.answer = () => ({ status: 500 });
    const id = await send("puppet", "go", `${hook.url}/gone`);
    await hook.got(2);
    const at = `${server.url}/agents/puppet`;
    await rpcResult(at, "DeleteTaskPushNotificationConfig", { taskId: id, id: "c" });
    const count = hook.at("/gone").length;
    // A config that still exists is retried meanwhile.
    await send("puppet", "go", `${hook.url}/there`);
    await hook.got(5, "/there");
    expect(hook.at("/gone").length - count).toBeLessThanOrEqual(1);
  });

  test("whose config is set again with new credentials gets the missing events with these", async () => {
    await start({ pushRetryMs: 60_000 });
    hook.answer = ({ headers }) => ({ status: headers.authorization === "Bearer new" ? 200 : 401 });
    const id = await send("echo", "hi", hook.url);
    await hook.got(1);
    await until(async () => (await look(id)).failed !== undefined);
    const authentication = { scheme: "Bearer", credentials: "new" };
    const config = { taskId: id, id: "c", url: hook.url, authentication };
    await rpcResult(server.url, "CreateTaskPushNotificationConfig", config);
    await until(isOver);
    expect(hook.all.slice(1).map(summary)).toEqual(ECHOED);
    expect(hook.all[1]?.id).toBe(hook.all[0]?.id);
  });
});

test("a stop waits for requests in flight, up to a maximum", async () => {
  await start({ drainMs: 60_000, pushTimeoutMs: 60_000 });
  const answered = createGate();
  hook.answer = async (_, nth) => {
    if (nth === 1) await answered.opened;
    return { status: 200 };
  };
  const id = await send("echo", "hi", hook.url);
  await hook.got(1);
  const stopped = server.stop();
  // The server no longer accepts calls, and still waits for the response.
  await until(() =>
    fetch(server.url).then(
      () => false,
      () => true,
    ),
  );
  answered.open();
  await stopped;
  await start({ drainMs: 0 });
  await until(isOver);
  expect(hook.all.map(summary)).toEqual(ECHOED);
  await until(async () => (await look(id)).attempts.length === 4);
  expect((await look(id)).attempts.map((one: Loose) => one.status)).toEqual([200, 200, 200, 200]);
});
