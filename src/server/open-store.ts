/** Where everything is kept, as the settings say it: in memory, in a folder, or in a database that many nodes share. */
import { createLocalBus } from "../bus/local.ts";
import type { RemoteBus } from "../bus/remote.ts";
import type { LoopBudget } from "../lib/loop-budget.ts";
import { loadPeer } from "../lib/optional-package.ts";
import { LIMITS, type Quotas, type Scope, type TaskId } from "../model/index.ts";
import { type Bus, DUE, type Log, PUSH_DUE, type Store, type TokenStore } from "../ports/index.ts";
import { runQuotaOf } from "../quotas/index.ts";
import { createMemoryStore } from "../store/memory/index.ts";
import { createMemoryTokenBook } from "../store/memory/tokens.ts";
import type { PostgresStore } from "../store/postgres/index.ts";
import { createSqliteStore, KEY_WAYS_OUT, markOpened, whyKeysAreNeeded } from "../store/sqlite/index.ts";
import { createSqliteTokenBook } from "../store/sqlite/tokens.ts";
import type { Telemetry } from "../telemetry/index.ts";
import { StartRefusal } from "./admin-routes.ts";
import type { Clock } from "./clock.ts";
import { type CommitState, watchCommits } from "./health/index.ts";

export interface StorageParts {
  readonly settings: {
    readonly data: string;
    readonly durability: "power" | "process";
    readonly acceptDataLoss: boolean;
    readonly leaseMs: number;
    readonly quotas: Quotas;
    readonly auth: readonly string[];
    readonly runsMax: number;
    readonly bell: string | undefined;
    readonly databaseDirectUrl: string | undefined;
    readonly databaseConnectionsMax: number;
    readonly pushTimeoutMs: number;
  };
  readonly clock: Clock;
  readonly loop: LoopBudget;
  readonly telemetry: Telemetry;
  /** This node, like no other. */
  readonly node: string;
  readonly log: Log;
}

export interface Storage {
  readonly store: Store;
  readonly bus: Bus;
  readonly commits: CommitState;
  openTokens(): Promise<TokenStore>;
  /** The keys that all nodes share, made the first time; undefined: this one is alone, and keeps its keys itself. */
  sharedKeys(make: () => string): Promise<string | undefined>;
  /** Why a key file that is missing must not be made anew, and what to do; undefined: it may. */
  keysLost(): string | undefined;
  /** Store and keys are open: from now on a part that is missing is lost. */
  opened(keyFile: boolean): void;
  close(): Promise<void>;
}

export const isShared = (data: string): boolean => /^postgres(?:ql)?:\/\//.test(data);

export function openStorage(parts: StorageParts): Promise<Storage> {
  return isShared(parts.settings.data) ? openDatabase(parts) : openAlone(parts);
}

/** What every store is told. */
function storeParts({ settings, clock, loop, log }: StorageParts, bus: Bus) {
  return {
    now: clock.now,
    wallTime: clock.wallTime,
    ticks: clock.ticks,
    loop,
    // Where no caller has to say who it is, tenants are names that anybody may choose: there is nothing to share out.
    runsShared: settings.auth.includes("none") ? undefined : settings.runsMax,
    leaseMs: settings.leaseMs,
    durability: settings.durability,
    runQuota: (scope: Scope) => runQuotaOf(settings.quotas, scope),
    hotEventsMax: LIMITS.hotEventsMax,
    hotTasksMax: LIMITS.hotTasksMax,
    hotQuietMs: LIMITS.hotQuietMs,
    hotBytesMax: LIMITS.hotBytesMax,
    onCommitted: (taskId: TaskId) => bus.notify(taskId),
    onDue: () => bus.notify(DUE),
    onPushDue: () => bus.notify(PUSH_DUE),
    onDamaged: (taskId: TaskId, error: unknown) =>
      log.error({ taskId, err: error }, "what is recorded of a task cannot be read; it is left out"),
  };
}

async function openAlone(parts: StorageParts): Promise<Storage> {
  const { settings, clock, telemetry } = parts;
  const bus = createLocalBus();
  const commits = watchCommits(telemetry.commits);
  const inner = { ...storeParts(parts, bus), commits };
  const inMemory = settings.data === ":memory:";
  const store = telemetry.store(
    inMemory
      ? createMemoryStore(inner)
      : createSqliteStore({ ...inner, folder: settings.data, acceptDataLoss: settings.acceptDataLoss }),
  );
  return {
    store,
    bus,
    commits,
    openTokens: async () =>
      inMemory
        ? createMemoryTokenBook()
        : createSqliteTokenBook({ folder: settings.data, now: clock.wallTime }),
    sharedKeys: async () => undefined,
    keysLost() {
      const why = inMemory || settings.acceptDataLoss ? undefined : whyKeysAreNeeded(settings.data);
      return why === undefined ? undefined : `${why}. ${KEY_WAYS_OUT}`;
    },
    opened: keyFile => (inMemory ? undefined : markOpened(settings.data, keyFile)),
    close: () => store.close(),
  };
}

/** How long rings to other nodes are gathered. */
const GATHER_MS = 2;
/** Between two looks at the clock of the database. */
const CLOCK_MS = 15_000;

async function openDatabase(parts: StorageParts): Promise<Storage> {
  const { settings, clock, telemetry, node, log } = parts;
  const { createPostgresStore, createPostgresTokenBook } = await loadPeer(
    "pg",
    "A store in Postgres",
    () => import("../store/postgres/index.ts"),
  );
  const url = settings.data;
  const commits = watchCommits(telemetry.commits);
  // The store rings, and what other nodes ring for it must know at once: each needs the other.
  const bell: { bus?: RemoteBus } = {};
  const ring = { notify: (topic: string) => bell.bus?.notify(topic) } as Bus;
  const inner = await createPostgresStore({
    ...storeParts(parts, ring),
    hotTasksMax: LIMITS.knownTasksMax,
    hotBytesMax: LIMITS.knownBytesMax,
    pushLeaseMs: settings.pushTimeoutMs + settings.leaseMs,
    url,
    node,
    connectionsMax: settings.databaseConnectionsMax,
    statementMs: LIMITS.statementMs,
    commits,
    log,
  });
  const bus = await openBell(parts, inner).catch(async error => {
    await inner.close();
    throw error;
  });
  bell.bus = bus;
  // The database's time counts: leases and logs of all nodes are in it.
  await clock.follow(inner.time);
  await inner.lookAtTime();
  const timer = setInterval(() => void clock.follow(inner.time).catch(() => {}), CLOCK_MS).unref();
  const store = telemetry.store(inner);
  return {
    store,
    bus,
    commits,
    openTokens: () => createPostgresTokenBook({ url, now: clock.wallTime, log }),
    sharedKeys: make => inner.sharedKeys(make),
    keysLost: () => undefined,
    opened() {},
    async close() {
      clearInterval(timer);
      await store.close();
      await bus.close();
    },
  };
}

async function openBell({ settings, node, log }: StorageParts, store: PostgresStore): Promise<RemoteBus> {
  const { bell, data, databaseDirectUrl } = settings;
  const parts = {
    node,
    cluster: store.cluster,
    gatherMs: GATHER_MS,
    pollMs: LIMITS.busPollMs,
    onRemote: (topic: string | undefined) => store.doubt(topic as TaskId | undefined),
    log,
  };
  if (bell !== undefined) {
    const { createNatsBus } = await loadPeer(
      "@nats-io/transport-node",
      "A bell over NATS",
      () => import("../bus/nats.ts"),
    );
    return createNatsBus({ ...parts, url: bell });
  }
  if (store.pooled && databaseDirectUrl === undefined) throw new StartRefusal(POOLED);
  const { createPostgresBus } = await import("../bus/postgres.ts");
  return createPostgresBus({ ...parts, url: databaseDirectUrl ?? data });
}

const POOLED =
  "--data leads to a pooler such as PgBouncer: nodes cannot wake each other through it. Give the address of the database " +
  "itself with --database-direct-url, or a bell of its own with --bell nats://….";
