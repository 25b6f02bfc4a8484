/** Background work: runs of agents, webhook deliveries, deletion of tasks past their retention. */
import type { Log, PushEncoder } from "../ports/index.ts";
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
  readonly pushEncoders: readonly PushEncoder[];
  readonly tools: RunnerParts["tools"];
  readonly agents: RunnerParts["agents"];
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
  const { settings, services, pushEncoders, tools, agents, onFailure, log } = parts;
  const { store, bus, catalog, items, outbound, webhooks, oauth, keys, telemetry, newId, randomHex } =
    services;
  const { clock } = services;
  const { wallTime, ticks } = clock;
  const random = (): number => toFraction(randomHex(7));
  const runner = createRunner({
    ...settings,
    store,
    bus,
    catalog,
    items,
    outbound,
    tools,
    agents,
    log,
    newId,
    ticks,
    random,
    toErrorRecord,
    onFailure,
    credentials: oauth,
    now: wallTime,
    timers: clock,
    worker: services.node,
  });
  const pushes = createPushWorker({
    ...settings,
    ...keys,
    store,
    bus,
    encoders: pushEncoders,
    log,
    wallTime,
    ticks,
    random,
    timers: clock,
    targets: webhooks,
    fetch: telemetry.fetch(webhooks.fetch, "webhook"),
  });
  const scheduler = createScheduler({
    store,
    bus,
    log,
    wallTime,
    timers: clock,
    begin: parts.beginScheduled,
  });
  const workers = [
    runner,
    pushes,
    scheduler,
    createSweeper({ ...settings, store, catalog, log, timers: clock }),
  ];
  return {
    runner,
    async stop(): Promise<void> {
      await Promise.all(workers.map(worker => worker.stop()));
    },
  };
}

/** Their tasks wait until a server has them again. */
export function warnOfUnserved(
  unfinished: ReadonlyMap<string, number>,
  served: ReadonlySet<string>,
  log: Log,
): void {
  for (const [agent, count] of unfinished)
    if (!served.has(agent))
      log.warn({ agent, count }, "unfinished tasks belong to an agent that is not served");
}
