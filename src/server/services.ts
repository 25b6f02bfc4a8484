/** What everything else stands on: what is kept and where, keys, calls to others, who may come in. */
import { randomUUID } from "node:crypto";
import type { Settings } from "../config/config.ts";
import { createKeys, keyFileOf, newRing } from "../keys/index.ts";
import { LoopBudget } from "../lib/loop-budget.ts";
import { type AgentName, createMint, LIMITS } from "../model/index.ts";
import { createGuarded, createOutbound } from "../outbound/index.ts";
import type { Agent, Log } from "../ports/index.ts";
import { createDialects } from "../protocol/index.ts";
import { openTelemetry, type Telemetry } from "../telemetry/index.ts";
import type { LevelSwitch } from "../telemetry/level.ts";
import { checkHealthPrefix } from "./admin-routes.ts";
import { createCatalog } from "./catalog.ts";
import { type Clock, toDigest, type World } from "./clock.ts";
import { checkAccess, openAdmission } from "./open-auth.ts";
import { openAuthorization } from "./open-authorization.ts";
import { openStorage, type Storage } from "./open-store.ts";
import { readVersion } from "./package-files.ts";

/** What the server needs to know; `Settings` has it all. */
export type ServerSettings = Omit<
  Settings,
  "agents" | "agentsFolder" | "configFiles" | "default" | "logLevel" | "notes" | "portChosen"
> &
  Partial<Pick<Settings, "portChosen">>;

export interface ServerParts {
  readonly settings: ServerSettings;
  readonly agents: readonly Agent[];
  readonly fallback: AgentName;
  readonly log: Log;
  /** Callers come through a program of somebody else. */
  readonly mounted?: true;
  /** Whether a base leads to this server: see `createOwnBase`. */
  readonly isOwnBase?: (base: string) => boolean;
  /** How much is logged; undefined: that cannot be changed. */
  readonly levels?: LevelSwitch | undefined;
}

export type Foundation = Awaited<ReturnType<typeof layFoundation>>;

/** Opens it all, or nothing: what was opened before a refusal is closed again. */
export async function layFoundation(parts: ServerParts, { clock, chance }: World) {
  const { settings, log } = parts;
  const { now, wallTime, ticks } = clock;
  checkAccess(settings);
  checkHealthPrefix(settings.healthPrefix, createDialects(settings));
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closers.toReversed()) await one();
  };
  try {
    const telemetry = await startTelemetry(parts, clock, () => newId());
    closers.push(telemetry.close);
    const node = randomUUID();
    const loop = new LoopBudget(LIMITS.catchUpEventsMax);
    const storage = await openStorage({ settings, clock, loop, telemetry, node, log });
    closers.push(storage.close);
    const { store, bus } = storage;
    // Ids of the last moment may be taken.
    clock.notBefore(store.lastAt + 1);
    const newId = createMint({ now, randomHex: chance });
    const keys = await openKeys(settings, storage, wallTime, log);
    const calls = createOutbound({ allow: settings.callAllow, connectMs: LIMITS.connectMs });
    const webhooks = openWebhooks(settings);
    closers.push(calls.close, webhooks.close);
    const outbound = telemetry.outbound(calls);
    const catalog = createCatalog(parts.agents.map(telemetry.agent), parts.fallback, wallTime);
    const admission = await openAdmission({
      openTokens: storage.openTokens,
      settings,
      catalog,
      fetch: outbound.trusted,
      wallTime,
      ticks,
      chance,
      mounted: parts.mounted === true,
    });
    closers.push(admission.close);
    const { vault } = keys;
    const inner = { settings, store, vault, fetch: outbound.trusted, log, wallTime, chance };
    const authorization = openAuthorization(inner);
    return {
      node,
      loop,
      telemetry,
      store,
      commits: storage.commits,
      bus,
      newId,
      keys,
      outbound,
      webhooks,
      catalog,
      admission,
      authorization,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Calls to where callers want updates delivered to. */
const openWebhooks = ({ pushAllow: allow, pushAllowLoopback: loopback, pushHttp: http }: ServerSettings) =>
  createGuarded({ allow, loopback, http, connectMs: LIMITS.connectMs });

async function openKeys(settings: ServerSettings, storage: Storage, now: () => number, log: Log) {
  const isGiven = (settings.keys ?? settings.keysCommand ?? settings.keyFile) !== undefined;
  const shared = isGiven ? undefined : await storage.sharedKeys(() => newRing(now()));
  if (shared !== undefined) log.warn({}, KEYS_IN_DATABASE);
  const place = { ...settings, ...(shared !== undefined && { keys: shared }) };
  const keys = createKeys({ ...place, lost: storage.keysLost, now, log });
  storage.opened(keyFileOf(place) !== undefined);
  return keys;
}

const KEYS_IN_DATABASE =
  "the keys of this cluster are kept in its database, beside what they seal; give keys, keysCommand or keyFile to keep them apart";

const startTelemetry = (parts: ServerParts, clock: Clock, newId: () => string): Promise<Telemetry> =>
  openTelemetry({
    ...parts.settings,
    levels: parts.levels,
    log: parts.log,
    version: readVersion,
    newId,
    digest: toDigest,
    now: clock.now,
    wallTime: clock.wallTime,
    ticks: clock.ticks,
  });
