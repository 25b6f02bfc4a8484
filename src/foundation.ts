/** What everything else stands on: what is kept and where, keys, calls to others, who may come in. */
import { randomUUID } from "node:crypto";
import { checkAccess, openAdmission } from "./admission.ts";
import { openAuthorization } from "./authorize.ts";
import { createCatalog } from "./catalog.ts";
import type { Settings } from "./config/config.ts";
import { createDialects } from "./dialect/index.ts";
import { createKeys, newRing } from "./keys/index.ts";
import { type AgentName, createMint, LIMITS } from "./model/index.ts";
import { checkHealthPrefix } from "./operate.ts";
import { createGuarded, createOutbound } from "./outbound/index.ts";
import { readVersion } from "./package.ts";
import { LoopBudget } from "./ports/loop-budget.ts";
import type { Agent, Log } from "./ports.ts";
import { openStorage, type Storage } from "./storage.ts";
import { openTelemetry, type Telemetry } from "./telemetry/index.ts";
import type { LevelSwitch } from "./telemetry/level.ts";
import { toDigest, type World } from "./world.ts";

/** What the server needs to know; `Settings` has it all. */
export type ServerSettings = Omit<
  Settings,
  "agents" | "agentsFolder" | "configFiles" | "default" | "logLevel" | "notes"
>;

export interface ServerParts {
  readonly settings: ServerSettings;
  readonly agents: readonly Agent[];
  readonly fallback: AgentName;
  readonly log: Log;
  /** Callers come through a program of somebody else. */
  readonly mounted?: true;
  /** How much is logged; undefined: that cannot be changed. */
  readonly levels?: LevelSwitch | undefined;
}

export type Foundation = Awaited<ReturnType<typeof layFoundation>>;

/** Opens it all, or nothing: what was opened before a refusal is closed again. */
export async function layFoundation(parts: ServerParts, { clock, chance }: World) {
  const { settings, log } = parts;
  const { now } = clock;
  checkAccess(settings);
  checkHealthPrefix(settings.healthPrefix, createDialects(settings));
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closers.toReversed()) await one();
  };
  try {
    const telemetry = await startTelemetry(parts, now, () => newId());
    closers.push(telemetry.close);
    const node = randomUUID();
    const loop = new LoopBudget();
    const storage = await openStorage({ settings, clock, ticks, loop, telemetry, node, log });
    closers.push(storage.close);
    const { store, bus } = storage;
    // Ids of the last moment may be taken.
    clock.notBefore(store.lastAt + 1);
    const newId = createMint({ now, randomHex: chance });
    const keys = await openKeys(settings, storage, now, log);
    const calls = createOutbound({ allow: settings.callAllow, connectMs: LIMITS.connectMs });
    const webhooks = openWebhooks(settings);
    closers.push(calls.close, webhooks.close);
    const outbound = telemetry.outbound(calls);
    const catalog = createCatalog(parts.agents.map(telemetry.agent), parts.fallback, now);
    const admission = await openAdmission({
      openTokens: storage.openTokens,
      settings,
      catalog,
      fetch: outbound.trusted,
      now,
      chance,
      mounted: parts.mounted === true,
    });
    closers.push(admission.close);
    const { vault } = keys;
    const inner = { settings, store, vault, fetch: outbound.trusted, log, now, chance };
    const authorization = openAuthorization(inner);
    return {
      node,
      ticks,
      loop,
      telemetry,
      store,
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
  return createKeys({ ...settings, ...(shared !== undefined && { keys: shared }), now, log });
}

const KEYS_IN_DATABASE =
  "the keys of this cluster are kept in its database, beside what they seal; give keys, keysCommand or keyFile to keep them apart";

/** For durations: it has nothing to do with the time of day. */
const ticks = (): number => performance.now();

const startTelemetry = (parts: ServerParts, now: () => number, newId: () => string): Promise<Telemetry> =>
  openTelemetry({
    ...parts.settings,
    levels: parts.levels,
    log: parts.log,
    version: readVersion,
    newId,
    digest: toDigest,
    now,
    ticks,
  });
