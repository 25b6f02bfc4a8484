import { Latch } from "../lib/latch.ts";
import { hostOf } from "../model/index.ts";
import { type Bus, PUSH_DUE, type PushSubscription } from "../ports/index.ts";
import { Round, type RoundParts } from "./deliver-pending.ts";
import { createHosts } from "./host-limits.ts";

export interface PusherParts extends Omit<RoundParts, "hosts"> {
  readonly bus: Bus;
  readonly pushesMax: number;
  readonly drainMs: number;
}

export interface Pusher {
  /** Takes no more, lets what is under way finish for a while; the rest is delivered after the next start. */
  stop(): Promise<void>;
}

/** How long nothing is tried after something failed that is our own. */
const PAUSE_MS = 1_000;
/** What a timer takes. */
const WAIT_MS_MAX = 2_147_483_647;

/** Delivers to webhooks, as many at once as there is room for. The store knows what is due, and nothing is kept here. */
export function createPusher(parts: PusherParts): Pusher {
  const { store, bus, log } = parts;
  const { deliveries } = store;
  const hosts = createHosts();
  const bell = new Latch();
  bus.subscribe(PUSH_DUE, bell);
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function loop(): Promise<void> {
    while (!stopped) {
      const claimed = await claim();
      for (const one of claimed) begin(one);
      if (claimed.length > 0 || stopped) continue;
      await setTimer();
      await bell.wait();
    }
  }

  async function claim(): Promise<readonly PushSubscription[]> {
    const room = parts.pushesMax - underWay.size;
    if (room <= 0) return [];
    try {
      return await deliveries.claim(hosts.busy, room);
    } catch (error) {
      log.error({ err: error }, "webhooks that are due could not be looked up");
      await pause();
      return [];
    }
  }

  async function setTimer(): Promise<void> {
    clearTimeout(timer);
    // Who cannot find out looks again soon.
    const nextInMs = await deliveries.nextInMs().catch(() => PAUSE_MS);
    if (nextInMs === undefined || stopped) return;
    timer = setTimeout(() => bell.wake(), Math.min(Math.ceil(nextInMs), WAIT_MS_MAX)).unref();
  }

  function begin(delivery: PushSubscription): void {
    const host = hostOf(delivery.config);
    hosts.begin(host);
    const done = deliver(delivery).then(() => {
      hosts.end(host);
      underWay.delete(done);
      bell.wake();
    });
    underWay.add(done);
  }

  /** Whatever goes wrong here is ours and not the webhook's: it stays where it is, and is tried again. */
  async function deliver(delivery: PushSubscription): Promise<void> {
    try {
      await new Round({ ...parts, hosts }, delivery, stopping.signal).go();
    } catch (error) {
      const { taskId, config } = delivery;
      log.error(
        { err: error, taskId, config: config.id },
        "a delivery to a webhook broke off; it is tried again",
      );
      await pause();
      await deliveries.release(delivery, delivery.cursor, true).catch(() => {});
    }
  }

  const looped = loop().catch(error => log.error({ err: error }, "deliveries to webhooks have stopped"));

  return {
    async stop() {
      stopped = true;
      bell.wake();
      await looped;
      clearTimeout(timer);
      const late = setTimeout(() => stopping.abort(), parts.drainMs);
      await Promise.all(underWay);
      clearTimeout(late);
      bus.unsubscribe(PUSH_DUE, bell);
    },
  };
}

const pause = (): Promise<void> => new Promise(resolve => void setTimeout(resolve, PAUSE_MS));
