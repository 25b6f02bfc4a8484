/** What works by itself: the runs of agents, deliveries to webhooks, and taking away what is no longer kept. */

import type { Dialect, Log } from "../ports/index.ts";
import { createPusher } from "../push/worker.ts";
import { createRunner, type RunnerParts } from "../runner/claim.ts";
import { createSweeper } from "../runner/retention.ts";
import { toErrorRecord } from "../telemetry/error-record.ts";
import { toFraction, type World } from "./clock.ts";
import type { Foundation, ServerSettings } from "./services.ts";

export interface WorkerParts {
  readonly settings: ServerSettings;
  readonly foundation: Foundation;
  readonly world: World;
  readonly dialects: readonly Dialect[];
  readonly tools: RunnerParts["tools"];
  readonly log: Log;
}

export function beginWork({ settings, foundation, world, dialects, tools, log }: WorkerParts) {
  const { store, bus, catalog, outbound, webhooks, keys, telemetry, newId, node } = foundation;
  const { wallTime, ticks } = world.clock;
  const random = (): number => toFraction(world.chance(7));
  const { credentials } = foundation.authorization;
  const runner = createRunner({
    ...settings,
    store,
    bus,
    catalog,
    credentials,
    outbound,
    tools,
    log,
    newId,
    now: wallTime,
    ticks,
    random,
    toErrorRecord,
    worker: node,
  });
  const pusher = createPusher({
    ...settings,
    ...keys,
    store,
    bus,
    dialects,
    targets: webhooks,
    fetch: telemetry.fetch(webhooks.fetch, "webhook"),
    log,
    wallTime,
    ticks,
    random,
  });
  const workers = [runner, createSweeper({ ...settings, store, catalog, log }), pusher];
  return {
    runner,
    async stop(): Promise<void> {
      await Promise.all(workers.map(worker => worker.stop()));
    },
  };
}
