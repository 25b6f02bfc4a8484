/** Background work: runs of agents, webhook deliveries, deletion of tasks past their retention. */
import type { Dialect, Log } from "../ports/index.ts";
import { createPushWorker } from "../push/worker.ts";
import { createRunner, type Runner, type RunnerParts } from "../runner/claim.ts";
import { createSweeper } from "../runner/retention.ts";
import { createScheduler, type SchedulerParts } from "../runner/schedules.ts";
import { toErrorRecord } from "../telemetry/error-record.ts";
import { toFraction } from "./clock.ts";
import type { ServerSettings, Services } from "./services.ts";

export interface WorkersParts {
  readonly settings: ServerSettings;
  readonly services: Services;
  readonly dialects: readonly Dialect[];
  readonly tools: RunnerParts["tools"];
  readonly onFailure: RunnerParts["onFailure"];
  /** Begins the work of a schedule. */
  readonly beginScheduled: SchedulerParts["begin"];
  readonly log: Log;
}

export interface Workers {
  readonly runner: Runner;
  stop(): Promise<void>;
}

export function startWorkers(parts: WorkersParts): Workers {
  const { settings, services, dialects, tools, onFailure, log } = parts;
  const { store, bus, catalog, items, outbound, webhooks, oauth, keys, telemetry, newId, randomHex } =
    services;
  const { wallTime, ticks } = services.clock;
  const random = (): number => toFraction(randomHex(7));
  const runner = createRunner({
    ...settings,
    store,
    bus,
    catalog,
    items,
    outbound,
    tools,
    log,
    newId,
    ticks,
    random,
    toErrorRecord,
    onFailure,
    credentials: oauth,
    now: wallTime,
    worker: services.node,
  });
  const pushes = createPushWorker({
    ...settings,
    ...keys,
    store,
    bus,
    dialects,
    log,
    wallTime,
    ticks,
    random,
    targets: webhooks,
    fetch: telemetry.fetch(webhooks.fetch, "webhook"),
  });
  const scheduler = createScheduler({ store, bus, log, wallTime, begin: parts.beginScheduled });
  const workers = [runner, pushes, scheduler, createSweeper({ ...settings, store, catalog, log })];
  return {
    runner,
    async stop(): Promise<void> {
      await Promise.all(workers.map(worker => worker.stop()));
    },
  };
}
