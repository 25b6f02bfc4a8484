import { connect, type Socket } from "node:net";
import { CHUNK_MARK } from "../agents/script.ts";
import type { Pace, PaceOutcome } from "./order.ts";
import { createKeys, createMessageWriter } from "./wire.ts";

/** Streams that are opened at once. */
const OPENING_MAX = 100;
/** After the last event of the schedule, so much later the rest counts as not kept. */
const LATE_MS = 2_000;

const now = (): number => performance.timeOrigin + performance.now();
const CHUNK = new RegExp(`${CHUNK_MARK}\\d+ @([\\d.]+) `, "g");
/** Longer than the mark, the number and the time of a chunk. */
const TAIL_CHARS = 64;

/** Opens streams whose agents send at a fixed pace, and measures the delay of each event from the agent to here. */
export async function pace(order: Pace): Promise<PaceOutcome> {
  const delays: number[] = [];
  const open: Socket[] = [];
  const nextKey = createKeys();
  let begun = 0;
  async function openSome(): Promise<void> {
    for (let index = begun++; index < order.streams; index = begun++) {
      // The schedules are spread over one pause: no agent waits for another.
      const beginMs = order.beginMs + (index / order.streams) * order.pauseMs;
      const text = `pace ${order.count} ${order.pauseMs} ${beginMs.toFixed(2)}`;
      const write = createMessageWriter("v1", "stream", text, order.port);
      open.push(await openStream(order.port, write(nextKey()), delays));
    }
  }
  await Promise.all(Array.from({ length: OPENING_MAX }, openSome));
  if (now() > order.beginMs) throw new Error("the streams were not open in time");
  const cpuBefore = process.cpuUsage();
  await new Promise(resolve =>
    setTimeout(resolve, order.beginMs + order.count * order.pauseMs + LATE_MS - now()),
  );
  for (const socket of open) socket.destroy();
  const cpu = process.cpuUsage(cpuBefore);
  delays.sort((a, b) => a - b);
  const at = (share: number): number => delays[Math.floor(share * (delays.length - 1))] ?? Number.NaN;
  return {
    events: delays.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    generatorMs: (cpu.user + cpu.system) / 1000,
  };
}

/** Resolves with the first bytes of the response. */
function openStream(port: number, call: string, delays: number[]): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }).setEncoding("latin1");
    let tail = "";
    socket.on("error", reject);
    socket.on("data", (text: string) => {
      resolve(socket);
      const receivedAt = now();
      const all = tail + text;
      let end = 0;
      for (const found of all.matchAll(CHUNK)) {
        delays.push(receivedAt - Number(found[1]));
        end = found.index + found[0].length;
      }
      tail = all.slice(Math.max(end, all.length - TAIL_CHARS));
    });
    socket.on("close", () => reject(new Error("the server closed a stream")));
    socket.write(call, "latin1");
  });
}
