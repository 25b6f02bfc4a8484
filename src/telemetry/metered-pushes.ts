import type { PushQueue, PushSubscription } from "../ports/index.ts";
import type { MeterParts } from "./metered-call.ts";

/** Failing subscriptions that are tracked to know the oldest; newer ones beyond this are not. */
const FAILING_MAX = 10_000;

/** Counts delivery attempts and measures how long the oldest failure lasts. */
export function meteredDeliveries(deliveries: PushQueue, { meters, wallTime }: MeterParts): PushQueue {
  const failing = new Map<string, number>();
  meters.pushOldest.follow(() => (wallTime() - Math.min(wallTime(), ...failing.values())) / 1_000);

  function keep({ key }: PushSubscription, since: number | undefined): void {
    if (since === undefined) failing.delete(key);
    else if (failing.size < FAILING_MAX) failing.set(key, since);
  }

  return {
    ...deliveries,
    async record(held, progress, attempt) {
      const delivery = await deliveries.record(held, progress, attempt);
      if (attempt) meters.pushAttempts.add([attempt.error === undefined ? "taken" : "failed"]);
      if (progress.state === "dead") meters.pushGivenUp.add([]);
      keep(held, progress.state === "live" ? progress.failed?.since : undefined);
      return delivery;
    },
    async remove(held) {
      await deliveries.remove(held);
      keep(held, undefined);
    },
  };
}
