import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Child, endChildren, startChild, writeAgent } from "../support/child.ts";
import { openStream, rpc, sendParams, until } from "../support/client.ts";
import { openReceiver, type Received, type Receiver, type Response } from "../support/receiver.ts";
import { tempFolder } from "../support/server.ts";
import { idsOf, isAscending, stateOf, taskOf } from "../support/wire.ts";

/** A receiver that fails, hangs and resets connections, and a server that is killed twice. */

const TASKS = 1_000;
const WORKERS = 16;
/** To read all logs takes longer than to deliver them. */
const LOG_EVERY = 5;
const WORKER = `
    yield ctx.status("on my way");
    yield ctx.artifact({ artifactId: "a", parts: ["made of " + task.text], last: true });`;

let folder: ReturnType<typeof tempFolder>;
let hook: Receiver;
let agent: string;
/** Payloads that the receiver accepted, by path. */
let accepted: Map<string, Received[]>;

beforeEach(async () => {
  folder = tempFolder();
  agent = writeAgent(folder.path, "worker", WORKER);
  accepted = new Map();
  hook = await openReceiver(moody());
});
afterEach(async () => {
  await endChildren();
  await hook.close();
  folder.remove();
});

/** Fails three times in ten, and is slow; always in the same way. */
function moody(): Receiver["answer"] {
  let state = 42;
  const chance = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const randomResponse = (): Response => {
    const dice = chance();
    if (dice < 0.1) return "reset";
    if (dice < 0.2) return { status: 500 };
    if (dice < 0.25) return { status: 503, headers: { "retry-after": "0" } };
    if (dice < 0.295) return { status: 302, headers: { location: "/elsewhere" } };
    return dice < 0.3 ? "hang" : { status: 204 };
  };
  return async received => {
    await sleep(10 * chance());
    const answer = randomResponse();
    if (typeof answer === "object" && answer.status === 204) {
      const others = accepted.get(received.path) ?? [];
      accepted.set(received.path, [...others, received]);
    }
    return answer;
  };
}

const start = (port = 0): Promise<Child> =>
  startChild({
    agents: [agent],
    data: join(folder.path, "data"),
    port,
    flags: [
      ...["--durability", "process", "--log-level", "error", "--push-allow-loopback"],
      ...["--push-retry-ms", "20", "--push-timeout-ms", "1000"],
    ],
  });

/** Sends until it is answered: a call with a key is executed once, however often it is sent. */
async function send(url: string, i: number): Promise<string> {
  const taskPushNotificationConfig = { url: `${hook.url}/${i}` };
  const configuration = { returnImmediately: true, taskPushNotificationConfig };
  const params = { ...sendParams(`${i}`, { messageId: `m${i}` }), configuration };
  for (;;) {
    const reply = await rpc(url, "SendMessage", params, { "idempotency-key": `k${i}` }).catch(() => null);
    if (reply?.body.result) return taskOf(reply.body).id;
    await sleep(20);
  }
}

/** The sequence number of the event in a delivery. */
const seqOf = ({ id }: Received): number => Number(id.split("_").at(-1));
const isLast = ({ body }: Received): boolean => stateOf(body) === "completed";
const ended = (): number => [...accepted.values()].filter(all => all.some(isLast)).length;

/** The payloads of a receiver without repetitions. */
function uniqueOf(i: number): readonly Received[] {
  const all = accepted.get(`/${i}`) as Received[];
  return all.filter((one, at) => all.findIndex(({ id }) => id === one.id) === at);
}

async function logOf(url: string, id: string): Promise<number[]> {
  const stream = await openStream(url, "SubscribeToTask", { id }, { "last-event-id": "2" });
  return [2, ...idsOf(await stream.all())];
}

test(`${TASKS} tasks, an unreliable receiver and two kills: everything is delivered, in order, with stable ids`, async () => {
  let server = await start();
  const { url, port } = server;
  const ids = new Map<number, string>();
  const workers = Array.from({ length: WORKERS }, async (_, worker) => {
    for (let i = worker; i < TASKS; i += WORKERS) ids.set(i, await send(url, i));
  });
  for (const share of [0.2, 0.5]) {
    await until(() => ended() >= share * TASKS, 300_000);
    expect((await server.kill()).signal).toBe("SIGKILL");
    server = await start(port);
  }
  await Promise.all(workers);
  await until(() => ended() === TASKS, 300_000);

  const firsts = new Map<string, string>();
  for (const { id, text } of hook.all) {
    expect(firsts.get(id) ?? text).toBe(text);
    firsts.set(id, text);
  }
  expect(firsts.size).toBeLessThan(hook.all.length);
  expect(hook.at("/elsewhere")).toEqual([]);
  for (let i = 0; i < TASKS; i++) {
    const seqs = uniqueOf(i).map(seqOf);
    expect([seqs[0], isAscending(seqs), isLast(uniqueOf(i).at(-1) as Received)]).toEqual([2, true, true]);
    if (i % LOG_EVERY === 0) expect(seqs).toEqual(await logOf(url, ids.get(i) as string));
  }
}, 900_000);
