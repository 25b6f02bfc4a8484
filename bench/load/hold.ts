import { type Connection, openConnection } from "./connection.ts";
import type { Hold } from "./order.ts";
import { createKeys, createMessageWriter, SPELLINGS } from "./wire.ts";

/** Streams that are opened at once: a burst of a thousand would measure the burst. */
const OPENING_MAX = 150;

/** Opens idle streams and returns when the agent of each is working; they stay open until they are closed. */
export async function hold(order: Hold): Promise<Connection[]> {
  const write = createMessageWriter(order.wire, "stream", "idle", order.port);
  const { working } = SPELLINGS[order.wire];
  const nextKey = createKeys();
  const held: Connection[] = [];
  let begun = 0;
  const deadlineMs = performance.now() + order.ms;

  async function openSome(): Promise<void> {
    while (begun < order.streams) {
      begun += 1;
      if (performance.now() > deadlineMs)
        throw new Error(`${held.length} of ${order.streams} streams opened in time`);
      const connection = await openConnection(order.port);
      held.push(connection);
      await within(
        connection.call(write(nextKey()), answer => answer.body.includes(working)),
        order.ms,
      );
    }
  }
  await Promise.all(Array.from({ length: OPENING_MAX }, openSome));
  return held;
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("an idle stream did not reach the state working")), ms);
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
