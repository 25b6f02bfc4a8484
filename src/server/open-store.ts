/** Opens the store that the settings name: in memory, in a folder, or in a database that several nodes share. */
import { createLocalBus } from "../bus/local.ts";
import { createTaskChanges, type TaskChangeHub } from "../bus/task-changes.ts";
import type { LoopBudget } from "../lib/loop-budget.ts";
import { loadOptionalPackage } from "../lib/optional-package.ts";
import { StartupError } from "../lib/startup-error.ts";
import { LIMITS, type Quotas, type Scope, type TaskId } from "../model/index.ts";
import {
  type Bus,
  type Log,
  PUSH_DUE,
  type RemoteBus,
  RUN_DUE,
  type Store,
  type TaskChanges,
  type TokenStore,
} from "../ports/index.ts";
import { runQuotaOf } from "../quotas/index.ts";
import type { StoreParts } from "../store/kernel/store-parts.ts";
import { createMemoryStore } from "../store/memory/index.ts";
import { createMemoryTokenStore } from "../store/memory/token-store.ts";
import type { PostgresStore } from "../store/postgres/index.ts";
import {
  createSqliteStore,
  createSqliteTokenStore,
  findKeyUse,
  LOST_KEYS_HINT,
  markOpened,
} from "../store/sqlite/index.ts";
import type { Telemetry } from "../telemetry/index.ts";
import type { Clock } from "./clock.ts";
import { type CommitState, watchCommits } from "./health.ts";
import { isPostgresUrl } from "./open-store-admin.ts";
import { readVersion } from "./package-files.ts";
import type { ServerPorts } from "./server-ports.ts";

export interface OpenStoreParts {
  readonly settings: {
    readonly data: string;
    readonly durability: "power" | "process";
    readonly acceptDataLoss: boolean;
    readonly leaseMs: number;
    readonly quotas: Quotas;
    readonly auth: readonly string[];
    readonly runsMax: number;
    readonly notify: string | undefined;
    readonly databaseDirectUrl: string | undefined;
    readonly databaseConnectionsMax: number;
    readonly pushTimeoutMs: number;
  };
  readonly clock: Clock;
  readonly loop: LoopBudget;
  readonly telemetry: Telemetry;
  /** The unique id of this node. */
  readonly node: string;
  readonly log: Log;
  /** A store or a bus of the program itself. */
  readonly ports: Pick<ServerPorts, "store" | "bus">;
}

export interface OpenedStore {
  readonly store: Store;
  readonly bus: Bus;
  readonly changes: TaskChanges;
  readonly commits: CommitState;
  openTokens(): Promise<TokenStore>;
  /** The keys that all nodes share, created by the first one; undefined: a single node, with keys of its own. */
  sharedKeys(create: () => string): Promise<string | undefined>;
  /** Why a missing key file must not be created again, and what to do; undefined: it may be created. */
  findLostKeys(): string | undefined;
  /** Records that store and keys exist: a part that is missing at a later start was lost. */
  markOpened(hasKeyFile: boolean): void;
  close(): Promise<void>;
}

export function openStore(parts: OpenStoreParts): Promise<OpenedStore> {
  if (!isPostgresUrl(parts.settings.data)) return openSingleNode(parts);
  if (parts.ports.store) throw new StartupError(TWO_STORES);
  return openPostgres(parts);
}

function toStoreParts(
  { settings, clock, loop, log }: OpenStoreParts,
  bus: Pick<Bus, "notify">,
  changes: TaskChangeHub,
) {
  return {
    now: clock.now,
    wallTime: clock.wallTime,
    ticks: clock.ticks,
    loop,
    // Without authentication callers choose their tenant: fair shares of runs would mean nothing.
    runsShared: settings.auth.includes("none") ? undefined : settings.runsMax,
    leaseMs: settings.leaseMs,
    durability: settings.durability,
    runQuota: (scope: Scope) => runQuotaOf(settings.quotas, scope),
    tailEventsMax: LIMITS.tailEventsMax,
    tailCacheTasksMax: LIMITS.tailCacheTasksMax,
    tailIdleMs: LIMITS.tailIdleMs,
    tailCacheBytesMax: LIMITS.tailCacheBytesMax,
    onCommitted(taskId: TaskId) {
      bus.notify(taskId);
      changes.notify(taskId);
    },
    onDue: () => bus.notify(RUN_DUE),
    onPushDue: () => bus.notify(PUSH_DUE),
    onDamaged: (taskId: TaskId, error: unknown) =>
      log.error({ taskId, err: error }, "the records of a task are damaged; the task is skipped"),
  };
}

async function openSingleNode(parts: OpenStoreParts): Promise<OpenedStore> {
  const { settings, clock, telemetry } = parts;
  const changes = createTaskChanges();
  const bus = await openNodeBus(parts, changes);
  const commits = watchCommits(telemetry.commits);
  const inner = { ...toStoreParts(parts, bus, changes), commits };
  const inMemory = settings.data === ":memory:";
  const isOwn = parts.ports.store === undefined;
  const store = telemetry.store(await openInner(parts, inner).catch(closeFirst(bus)));
  return {
    store,
    bus,
    changes,
    commits,
    openTokens: async () =>
      inMemory
        ? createMemoryTokenStore()
        : createSqliteTokenStore({ folder: settings.data, now: clock.wallTime }),
    sharedKeys: async () => undefined,
    findLostKeys() {
      const use = inMemory || !isOwn || settings.acceptDataLoss ? undefined : findKeyUse(settings.data);
      return use === undefined ? undefined : `${use}. ${LOST_KEYS_HINT}`;
    },
    markOpened: hasKeyFile => (inMemory || !isOwn ? undefined : markOpened(settings.data, hasKeyFile)),
    async close() {
      await store.close();
      await bus.close();
    },
  };
}

/** The store of a program, or the one that `data` names. */
async function openInner({ ports, settings }: OpenStoreParts, parts: StoreParts): Promise<Store> {
  if (ports.store) return ports.store(parts);
  const { data: folder, acceptDataLoss, durability } = settings;
  return folder === ":memory:"
    ? createMemoryStore(parts)
    : createSqliteStore({ ...parts, folder, acceptDataLoss, durability });
}

const closeFirst =
  ({ close }: RemoteBus) =>
  async (error: unknown): Promise<never> => {
    await close();
    throw error;
  };

/** A single process needs no bus to other nodes. */
async function openNodeBus({ ports, node, log }: OpenStoreParts, changes: TaskChangeHub): Promise<RemoteBus> {
  if (!ports.bus) return { ...createLocalBus(), close: async () => {} };
  const onRemote = (topic: string | undefined): void => changes.notify(topic as TaskId | undefined);
  return ports.bus({ node, batchMs: BATCH_MS, pollMs: LIMITS.busPollMs, onRemote, log });
}

const TWO_STORES =
  "The option data names a Postgres database, and the program brings a store of its own. Remove one of them.";

/** How long notifications to other nodes are collected. */
const BATCH_MS = 2;
/** The topic for feeds of all tasks on other nodes, and how long new tasks are collected for it. */
const NEW_TASKS = "new tasks";
const NEW_TASKS_MS = 200;
/** Interval between readings of the database's clock. */
const CLOCK_MS = 15_000;

async function openPostgres(parts: OpenStoreParts): Promise<OpenedStore> {
  const { settings, clock, telemetry, node, log } = parts;
  const { createPostgresStore, createPostgresTokenStore } = await loadOptionalPackage(
    "pg",
    "A store in Postgres",
    () => import("../store/postgres/index.ts"),
  );
  const url = settings.data;
  const commits = watchCommits(telemetry.commits);
  // The store notifies the bus of commits, and the bus notifies the store of the commits of other nodes.
  const remote: { bus?: RemoteBus } = {};
  const changes = createTaskChanges();
  const inner = await createPostgresStore({
    ...toStoreParts(parts, { notify: topic => remote.bus?.notify(topic) }, changes),
    onCreated: announceNew(remote, changes),
    tailCacheTasksMax: LIMITS.databaseTasksMax,
    tailCacheBytesMax: LIMITS.databaseTaskBytesMax,
    pushLeaseMs: settings.pushTimeoutMs + settings.leaseMs,
    url,
    node,
    version: readVersion(),
    connectionsMax: settings.databaseConnectionsMax,
    statementMs: LIMITS.statementMs,
    commits,
    log,
  });
  const bus = await openRemoteBus(parts, inner, changes).catch(async error => {
    await inner.close();
    throw error;
  });
  remote.bus = bus;
  // All nodes use the clock of the database: their leases and logs are compared.
  await clock.follow(inner.readTime);
  await inner.shortenLongLeases();
  const timer = setInterval(() => void clock.follow(inner.readTime).catch(() => {}), CLOCK_MS).unref();
  const store = telemetry.store(inner);
  return {
    store,
    bus,
    changes,
    commits,
    openTokens: () => createPostgresTokenStore({ url, now: clock.wallTime, log }),
    sharedKeys: inner.sharedKeys,
    findLostKeys: () => undefined,
    markOpened() {},
    async close() {
      clearInterval(timer);
      await store.close();
      await bus.close();
    },
  };
}

/** No reader on any node can wait for a task before its first commit: only feeds of all tasks are told of it, now and then. */
function announceNew(remote: { readonly bus?: RemoteBus }, changes: TaskChangeHub): (taskId: TaskId) => void {
  let isPlanned = false;
  return taskId => {
    changes.notify(taskId);
    if (isPlanned) return;
    isPlanned = true;
    setTimeout(() => {
      isPlanned = false;
      remote.bus?.notify(NEW_TASKS);
    }, NEW_TASKS_MS).unref();
  };
}

async function openRemoteBus(
  { settings, node, log, ports }: OpenStoreParts,
  store: PostgresStore,
  changes: TaskChangeHub,
): Promise<RemoteBus> {
  const { notify, data, databaseDirectUrl } = settings;
  const parts = {
    node,
    cluster: store.cluster,
    batchMs: BATCH_MS,
    pollMs: LIMITS.busPollMs,
    onRemote(topic: string | undefined) {
      if (topic === NEW_TASKS) return changes.notify(undefined);
      store.invalidate(topic as TaskId | undefined);
      changes.notify(topic as TaskId | undefined);
    },
    log,
  };
  if (ports.bus) return ports.bus(parts);
  if (notify !== undefined) {
    const { createNatsBus } = await loadOptionalPackage(
      "@nats-io/transport-node",
      "The option notify",
      () => import("../bus/nats.ts"),
    );
    return createNatsBus({ ...parts, url: notify });
  }
  if (store.isPooled && databaseDirectUrl === undefined) throw new StartupError(POOLED_URL);
  const { createPostgresBus } = await import("../bus/postgres.ts");
  return createPostgresBus({ ...parts, url: databaseDirectUrl ?? data });
}

const POOLED_URL =
  "--data leads to a connection pooler such as PgBouncer, which does not support LISTEN. Set the URL of the database itself " +
  "with --database-direct-url, or that of a NATS server with --notify nats://….";
