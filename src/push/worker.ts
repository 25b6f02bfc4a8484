import { Latch } from "../lib/latch.ts";
import type { Timers } from "../lib/timers.ts";
import { hostOf } from "../model/index.ts";
import { type Bus, PUSH_DUE, type PushSubscription } from "../ports/index.ts";
import { type DeliveryParts, deliverPending } from "./deliver-pending.ts";
import { createHostLimits } from "./host-limits.ts";

export interface PushWorkerParts extends Omit<DeliveryParts, "hosts"> {
  readonly bus: Bus;
  readonly pushesMax: number;
  readonly drainMs: number;
  readonly timers: Timers;
}

export interface PushWorker {
  /** Claims no more, lets deliveries finish for a while; the rest is delivered after the next start. */
  stop(): Promise<void>;
}

/** The delay after an error of this server. */
const RETRY_MS = 1_000;

/** Claims due subscriptions and delivers them, up to the limit. All state is in the store. */
export function createPushWorker(parts: PushWorkerParts): PushWorker {
  const { store, bus, log } = parts;
  const { deliveries } = store;
  const hosts = createHostLimits();
  const due = new Latch();
  bus.subscribe(PUSH_DUE, due);
  const active = new Set<Promise<void>>();
  const abort = new AbortController();
  let isStopped = false;
  let clearTimer = (): void => {};

  async function loop(): Promise<void> {
    while (!isStopped) {
      const claimed = await claim();
      for (const one of claimed) begin(one);
      if (claimed.length > 0 || isStopped) continue;
      await setTimer();
      await due.wait();
    }
  }

  async function claim(): Promise<readonly PushSubscription[]> {
    const room = parts.pushesMax - active.size;
    if (room <= 0) return [];
    try {
      return await deliveries.claim(hosts.busy, room);
    } catch (error) {
      log.error({ err: error }, "due webhooks could not be claimed");
      await sleep();
      return [];
    }
  }

  async function setTimer(): Promise<void> {
    clearTimer();
    const nextInMs = await deliveries.nextInMs().catch(() => RETRY_MS);
    if (nextInMs === undefined || isStopped) return;
    clearTimer = parts.timers.after(Math.ceil(nextInMs), () => due.wake());
  }

  function begin(claimed: PushSubscription): void {
    const host = hostOf(claimed.config);
    hosts.begin(host);
    const done = deliver(claimed).then(() => {
      hosts.end(host);
      active.delete(done);
      due.wake();
    });
    active.add(done);
  }

  /** An error here is the server's and not the webhook's: the cursor stays, and the delivery is retried. */
  async function deliver(claimed: PushSubscription): Promise<void> {
    try {
      await deliverPending({ ...parts, hosts }, claimed, abort.signal);
    } catch (error) {
      const { taskId, config } = claimed;
      log.error({ err: error, taskId, config: config.id }, "a delivery to a webhook failed; it is retried");
      await sleep();
      await deliveries.release(claimed, claimed.cursor, true).catch(() => {});
    }
  }

  const looped = loop().catch(error => log.error({ err: error }, "deliveries to webhooks have stopped"));

  return {
    async stop() {
      isStopped = true;
      due.wake();
      await looped;
      clearTimer();
      const deadline = setTimeout(() => abort.abort(), parts.drainMs);
      await Promise.all(active);
      clearTimeout(deadline);
      bus.unsubscribe(PUSH_DUE, due);
    },
  };
}

const sleep = (): Promise<void> => new Promise(resolve => void setTimeout(resolve, RETRY_MS));
