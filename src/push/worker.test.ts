import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { toScope } from "../auth/scope.ts";
import { createLocalBus } from "../bus/local.ts";
import { loadKeys } from "../keys/index.ts";
import { LoopBudget } from "../lib/loop-budget.ts";
import { systemTimers } from "../lib/timers.ts";
import { BEGINNING, createIdGenerator, LIMITS, type TaskEvent, type TaskId } from "../model/index.ts";
import { createGuardedFetch, type GuardedFetchParts } from "../outbound/guarded-fetch.ts";
import { type Log, PUSH_DUE, type Store } from "../ports/index.ts";
import { createV1 } from "../protocol/a2a-v1/index.ts";
import { createMemoryStore } from "../store/memory/index.ts";
import { createPushWorker, type PushWorkerParts } from "./worker.ts";

const SCOPE = toScope("t", "p");
const v1 = createV1({ errorTable: "1.0.1", versionPolicy: "lenient", cardPolicy: "hybrid", v11: "off" });
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function setUp(guard: Partial<GuardedFetchParts>, more: Partial<PushWorkerParts> = {}) {
  const bus = createLocalBus();
  const logged: string[] = [];
  const record = (_: object, text: string): void => void logged.push(text);
  const log: Log = { debug: record, info: record, warn: record, error: record };
  const time = { now: Date.now, wallTime: Date.now, ticks: () => performance.now() };
  const store = createMemoryStore({
    loop: new LoopBudget(2_048),
    ...LIMITS,
    runQuota: () => ({ caller: Infinity, tenant: Infinity }),
    ...time,
    onCommitted: id => bus.notify(id),
    onDue: () => {},
    onPushDue: () => bus.notify(PUSH_DUE),
    onDamaged: () => {},
  });
  const guarded = createGuardedFetch({ allow: [], loopback: false, http: true, connectMs: 1_000, ...guard });
  const worker = createPushWorker({
    ...LIMITS,
    ...loadKeys({
      data: ":memory:",
      keyFile: undefined,
      keys: undefined,
      keysCommand: undefined,
      lost: () => undefined,
      ...time,
      log,
    }),
    store,
    bus,
    encoders: [v1],
    targets: guarded,
    fetch: guarded.fetch,
    log,
    ...time,
    random: () => 0.5,
    pushRetryMs: 10,
    timers: systemTimers,
    drainMs: 0,
    ...more,
  });
  closers.push(store.close, guarded.close, worker.stop);
  return { store, logged };
}

const newId = createIdGenerator({ now: Date.now, randomHex: bytes => "ab".repeat(bytes) });

async function begin(store: Store, url: string): Promise<TaskId> {
  const id = newId() as TaskId;
  const created: TaskEvent = {
    type: "created",
    id,
    contextId: newId() as never,
    agent: "a" as never,
    origin: "v1",
    shown: true,
  };
  const message: TaskEvent = { type: "message", message: { messageId: "m", role: "user", parts: [] } };
  const push = {
    config: { id: "c", url, origin: "v1", events: "all" },
    key: newId(),
    opening: "task",
  } as const;
  await store.log.append(SCOPE, id, [created, message], { after: BEGINNING }, { push });
  return id;
}

async function listen(): Promise<{ readonly port: number; readonly requests: () => number }> {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return { port: (server.address() as AddressInfo).port, requests: () => requests };
}

it("a host that resolves to an internal address is given up at once, and no request is sent", async () => {
  const { port, requests } = await listen();
  const { store, logged } = setUp({ resolve: async () => ["127.0.0.1"] });
  const id = await begin(store, `http://rebind.example:${port}/`);
  await expect.poll(async () => (await store.deliveries.list(id))[0]?.state).toBe("dead");
  const [push] = await store.deliveries.list(id);
  expect(push?.attempts).toMatchObject([{ error: expect.stringMatching(/is blocked/) }]);
  expect([requests(), logged]).toEqual([0, ["a delivery to a webhook was given up"]]);
});

it("a host that does not respond gets few connections, and others keep theirs", async () => {
  const { port, requests } = await listen();
  let lookups = 0;
  const resolve = (host: string): Promise<readonly string[]> => {
    if (host === "fine.example") return Promise.resolve(["127.0.0.1"]);
    lookups += 1;
    return new Promise(() => {});
  };
  const parts = { pushTimeoutMs: 100, pushRetryMs: 1, pushesMax: 100 };
  const { store } = setUp({ allow: ["127.0.0.1"], resolve }, parts);
  const ids: TaskId[] = [];
  for (let i = 0; i < 40; i++) ids.push(await begin(store, "http://silent.example/"));
  await expect.poll(() => lookups).toBeGreaterThan(LIMITS.pushesPerHostMax + 4);
  const id = await begin(store, `http://fine.example:${port}/`);
  await expect.poll(async () => (await store.deliveries.list(id))[0]?.cursor).toBe(2);
  expect(requests()).toBeGreaterThan(0);
  const others = await Promise.all(ids.map(one => store.deliveries.list(one)));
  expect(new Set(others.flat().map(({ state, cursor }) => `${state} ${cursor}`))).toEqual(
    new Set(["live 1"]),
  );
});

it("a payload that cannot be encoded is given up, and the others are delivered", async () => {
  const { port } = await listen();
  const broken = {
    ...v1,
    name: "broken",
    encodePush: () => {
      throw new Error("a bug");
    },
  };
  const { store, logged } = setUp({ loopback: true }, { encoders: [v1, broken] });
  const url = `http://127.0.0.1:${port}/`;
  const id = await begin(store, url);
  const config = { id: "b", url, origin: "broken", events: "all" } as const;
  await store.pushes.set(SCOPE, id, { config, key: "k", opening: "task" });
  await store.pushes.set(SCOPE, id, {
    config: { ...config, id: "x", origin: "gone" },
    key: "l",
    opening: "task",
  });
  await expect
    .poll(async () => (await store.deliveries.list(id)).map(one => one.state))
    .toEqual(["live", "dead", "dead"]);
  await expect.poll(async () => (await store.deliveries.list(id))[0]?.cursor).toBe(2);
  const errors = (await store.deliveries.list(id)).map(one => one.attempts[0]?.error);
  expect(errors).toEqual([
    undefined,
    expect.stringMatching(/see the server log/),
    expect.stringMatching(/gone is no longer enabled/),
  ]);
  expect(logged).toContain("a push payload could not be encoded");
});
