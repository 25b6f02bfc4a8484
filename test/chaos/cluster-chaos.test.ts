import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  expectFullText,
  expectOneTaskEach,
  expectPushedInOrder,
  expectSameReplay,
  expectStepsOnce,
  worker,
} from "../support/chaos/assertions.ts";
import { CHAOS_CLIENTS, withWebhook } from "../support/chaos/clients.ts";
import { runClusterChaos } from "../support/chaos/cluster.ts";
import { endChildren, writeAgent } from "../support/child.ts";
import { until } from "../support/client.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { openReceiver, type Received, type Receiver } from "../support/receiver.ts";
import { tempFolder } from "../support/server.ts";

const KILLS = Number(process.env.DRAGOMAN_CLUSTER_KILLS ?? 6);
const CALLERS = 50;
const NODES = 3;

let folder: ReturnType<typeof tempFolder>;
let postgres: TestPostgres;
let hook: Receiver;
/** Payloads that the webhook accepted, by path; it refuses one in ten at first. */
let accepted: Map<string, Received[]>;
beforeEach(async () => {
  folder = tempFolder();
  postgres = await startPostgres(true);
  accepted = new Map();
  hook = await openReceiver(received => {
    if (Math.random() < 0.1) return { status: 503, headers: { "retry-after": "0" } };
    accepted.set(received.path, [...(accepted.get(received.path) ?? []), received]);
    return { status: 204 };
  });
});
afterEach(async () => {
  await endChildren();
  await hook.close();
  await postgres.stop();
  folder.remove();
});

test(`three nodes on one Postgres, with ${KILLS} kills of nodes and crashes of Postgres, lose nothing and repeat nothing`, {
  timeout: 300_000 + KILLS * 30_000,
}, async () => {
  const ledger = join(folder.path, "ledger");
  const agent = writeAgent(folder.path, "worker", worker(ledger), { attempts: 1_000 });
  const webhooked = withWebhook(hook.url);
  const { url, done, crashed, close } = await runClusterChaos({
    agents: [agent],
    postgres,
    data: await postgres.createDatabase(),
    nodes: NODES,
    callers: CALLERS,
    kills: KILLS,
    lifeMs: [500, 2_000],
    outageEvery: 3,
    clients: [...CHAOS_CLIENTS, webhooked],
    flags: ["--push-allow-loopback", "--push-retry-ms", "20", "--push-timeout-ms", "1000"],
    chance: Math.random,
  });
  expect(crashed).toEqual([]);
  expect(done.length).toBeGreaterThan(CALLERS);
  expect(done.some(one => one.breaks > 0)).toBe(true);
  await expectOneTaskEach(url, done);
  for (const one of done) expectFullText(one);
  for (const one of done) if (one.how === "stream") await expectSameReplay(url, one);
  expectStepsOnce(readFileSync(ledger, "utf8"), NODES);
  for (const { text } of done.filter(one => one.client === webhooked)) {
    const payloads = (): readonly Received[] => accepted.get(`/${text}`) ?? [];
    await until(() =>
      payloads().some(({ body }) => body.statusUpdate?.status.state === "TASK_STATE_COMPLETED"),
    );
    expectPushedInOrder(text, payloads());
  }
  await close();
});
