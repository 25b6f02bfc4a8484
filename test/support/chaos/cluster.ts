/**
 * Several nodes on one database, behind a simple load balancer: nodes are killed, connections are cut, the
 * database crashes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startBalancer } from "../balancer.ts";
import { type Child, startChild } from "../child.ts";
import type { TestPostgres } from "../postgres.ts";
import { type CallResult, call } from "./caller.ts";
import { CHAOS_CLIENTS, type ChaosClient } from "./clients.ts";

export interface ClusterChaosOptions {
  readonly agents: readonly string[];
  readonly postgres: TestPostgres;
  readonly data: string;
  readonly nodes: number;
  readonly callers: number;
  readonly kills: number;
  readonly lifeMs: readonly [number, number];
  /** After so many kills the database crashes, too. */
  readonly outageEvery: number;
  readonly clients?: readonly ChaosClient[];
  readonly flags?: readonly string[];
  readonly chance: () => number;
}

export interface ClusterChaosResult {
  readonly url: string;
  readonly nodes: readonly Child[];
  readonly done: readonly CallResult[];
  /** Errors of nodes that ended without being killed. */
  readonly crashed: readonly string[];
  close(): Promise<void>;
}

export async function runClusterChaos(parts: ClusterChaosOptions): Promise<ClusterChaosResult> {
  const { chance, lifeMs, clients = CHAOS_CLIENTS } = parts;
  const flags = ["--log-level", "error", "--drain-ms", "0", "--lease-ms", "1000", ...(parts.flags ?? [])];
  const options = { agents: parts.agents, data: parts.data, flags };
  const crashed: string[] = [];
  const start = async (port = 0): Promise<Child> => {
    const node = await startChild({ ...options, port });
    void node.exited.then(({ signal }) => signal === "SIGKILL" || crashed.push(node.stderr()));
    return node;
  };
  const nodes = await Promise.all(Array.from({ length: parts.nodes }, () => start()));
  const balancer = await startBalancer(() => nodes.map(node => node.port));
  let over = false;
  let finished = 0;

  async function caller(number: number): Promise<CallResult[]> {
    const client = clients[number % clients.length] as ChaosClient;
    const done: CallResult[] = [];
    for (let i = 0; !over; i++) {
      const how = chance() < 0.3 ? "send" : "stream";
      done.push(await call(balancer.url, client, `job-${number}-${i}`, how));
      finished += 1;
    }
    return done;
  }

  async function kill(): Promise<void> {
    const at = Math.floor(chance() * nodes.length);
    const node = nodes[at] as Child;
    await node.kill();
    nodes[at] = await start(node.port);
  }

  const callers = Promise.all(Array.from({ length: parts.callers }, (_, number) => caller(number)));
  callers.catch(() => (over = true));
  for (let kills = 1; kills <= parts.kills && !over; kills++) {
    await sleep(lifeMs[0] + chance() * (lifeMs[1] - lifeMs[0]));
    balancer.cut(0.3, chance);
    await kill();
    if (parts.postgres.own && kills % parts.outageEvery === 0) await parts.postgres.restart();
  }
  // However slow the machine is: some callers make a second call.
  while (finished <= parts.callers && !over) await sleep(10);
  over = true;
  const done = (await callers).flat();
  return { url: balancer.url, nodes, done, crashed, close: () => balancer.close() };
}
