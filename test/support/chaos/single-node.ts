/** A server that is killed repeatedly, and callers that retry. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, startChild } from "../child.ts";
import { type CallResult, call } from "./caller.ts";
import { CHAOS_CLIENTS, type ChaosClient } from "./clients.ts";

export interface ChaosOptions {
  readonly agents: readonly string[];
  readonly data: string;
  readonly callers: number;
  readonly kills: number;
  /** The minimum and the maximum lifetime of a server. */
  readonly lifeMs: readonly [number, number];
  readonly clients?: readonly ChaosClient[];
  /** A random number from 0 to 1. */
  readonly chance: () => number;
}

export interface ChaosResult {
  /** The server after the last kill. */
  readonly server: Child;
  /** All calls, with their results. */
  readonly done: readonly CallResult[];
}

export async function runChaos(parts: ChaosOptions): Promise<ChaosResult> {
  const { chance, lifeMs, clients = CHAOS_CLIENTS } = parts;
  const flags = ["--log-level", "error", "--drain-ms", "0"];
  const options = { agents: parts.agents, data: parts.data, flags };
  let server = await startChild(options);
  let over = false;
  let finished = 0;

  async function caller(number: number): Promise<CallResult[]> {
    const client = clients[number % clients.length] as ChaosClient;
    const done: CallResult[] = [];
    for (let i = 0; !over; i++) {
      const how = chance() < 0.3 ? "send" : "stream";
      done.push(await call(server.url, client, `job-${number}-${i}`, how));
      finished += 1;
    }
    return done;
  }

  const callers = Promise.all(Array.from({ length: parts.callers }, (_, number) => caller(number)));
  // A refused caller ends the test at once.
  callers.catch(() => (over = true));
  for (let kills = 0; kills < parts.kills && !over; kills++) {
    await sleep(lifeMs[0] + chance() * (lifeMs[1] - lifeMs[0]));
    await server.kill();
    server = await startChild({ ...options, port: server.port });
  }
  // However slow the machine is: some callers make a second call.
  while (finished <= parts.callers && !over) await sleep(10);
  over = true;
  return { server, done: (await callers).flat() };
}
