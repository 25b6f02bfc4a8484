import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rageCluster } from "../support/chaos/cluster.ts";
import { SPEAKERS, withWebhook } from "../support/chaos/speakers.ts";
import {
  expectAllSaid,
  expectOneTaskEach,
  expectPushedInOrder,
  expectSameAgain,
  expectStepsOnce,
  worker,
} from "../support/chaos/verdict.ts";
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
/** What the webhook took, by path; one in ten it does not take at first. */
let taken: Map<string, Received[]>;
beforeEach(async () => {
  folder = tempFolder();
  postgres = await startPostgres(true);
  taken = new Map();
  hook = await openReceiver(received => {
    if (Math.random() < 0.1) return { status: 503, headers: { "retry-after": "0" } };
    taken.set(received.path, [...(taken.get(received.path) ?? []), received]);
    return { status: 204 };
  });
});
afterEach(async () => {
  await endChildren();
  await hook.close();
  await postgres.stop();
  folder.remove();
});

test(`three nodes on one Postgres, of which ${KILLS} are killed while it falls over itself, lose nothing and do nothing twice`, {
  timeout: 300_000 + KILLS * 30_000,
}, async () => {
  const ledger = join(folder.path, "ledger");
  const agent = writeAgent(folder.path, "worker", worker(ledger), { attempts: 1_000 });
  const webhooked = withWebhook(hook.url);
  const { url, done, fallen, close } = await rageCluster({
    agents: [agent],
    postgres,
    data: await postgres.createDatabase(),
    nodes: NODES,
    callers: CALLERS,
    kills: KILLS,
    lifeMs: [500, 2_000],
    outageEvery: 3,
    speakers: [...SPEAKERS, webhooked],
    flags: ["--push-allow-loopback", "--push-retry-ms", "20", "--push-timeout-ms", "1000"],
    chance: Math.random,
  });
  expect(fallen).toEqual([]);
  expect(done.length).toBeGreaterThan(CALLERS);
  expect(done.some(one => one.breaks > 0)).toBe(true);
  await expectOneTaskEach(url, done);
  for (const one of done) expectAllSaid(one);
  for (const one of done) if (one.how === "stream") await expectSameAgain(url, one);
  expectStepsOnce(readFileSync(ledger, "utf8"), NODES);
  for (const { text } of done.filter(one => one.speaker === webhooked)) {
    const came = (): readonly Received[] => taken.get(`/${text}`) ?? [];
    await until(() => came().some(({ body }) => body.statusUpdate?.status.state === "TASK_STATE_COMPLETED"));
    expectPushedInOrder(text, came());
  }
  await close();
});
