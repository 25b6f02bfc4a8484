/** The services that the parts of a server share: clock, ids, store, bus, keys, outbound calls, agents, authentication, telemetry. */
import { randomUUID } from "node:crypto";
import type { Settings } from "../config/config.ts";
import { createKeysText, keyFileOf, loadKeys } from "../keys/index.ts";
import { LoopBudget } from "../lib/loop-budget.ts";
import { type AgentName, createIdGenerator, LIMITS } from "../model/index.ts";
import { createOAuth } from "../oauth/index.ts";
import { createGuardedFetch, createOutbound } from "../outbound/index.ts";
import type { Agent, Log, Observer, Run } from "../ports/index.ts";
import { openTelemetry, type Telemetry, type TelemetryParts } from "../telemetry/index.ts";
import type { LevelSwitch } from "../telemetry/level.ts";
import { checkHealthPrefix } from "./admin-routes.ts";
import { createCatalog } from "./catalog.ts";
import type { ServerEnvironment } from "./clock.ts";
import type { ServerFunctions } from "./load-functions.ts";
import { checkAuthSettings, consoleModeOf, openAuth } from "./open-auth.ts";
import { openItems } from "./open-items.ts";
import { type OpenedStore, openStore } from "./open-store.ts";
import { readVersion } from "./package-files.ts";
import { listDialects, type ServerPorts } from "./server-ports.ts";

/** The settings of a server; those of the loader are not needed. */
export type ServerSettings = Omit<
  Settings,
  | "agents"
  | "agentsFolder"
  | "agentsOrigin"
  | "configFiles"
  | "default"
  | "logLevel"
  | "warnings"
  | "portChosen"
  | "langgraphFile"
> &
  Partial<Pick<Settings, "portChosen" | "langgraphFile">>;

export interface ServerParts {
  readonly settings: ServerSettings;
  readonly agents: readonly Agent[];
  /** The agent that is served at `/`. */
  readonly defaultAgent: AgentName;
  /** The functions that the settings name by their files. */
  readonly functions?: ServerFunctions | undefined;
  /** undefined: all parts are the server's own. */
  readonly ports?: ServerPorts | undefined;
  readonly log: Log;
  /** undefined: the log level is fixed. */
  readonly levels?: LevelSwitch | undefined;
  /** undefined: the server is not in development. */
  readonly development?: Development | undefined;
}

/** For the author of the agents, who is the caller as well. */
export interface Development {
  readonly observer: Observer;
  /** Reports what an agent threw, and returns what its caller is told about it. */
  onFailure(run: Run, error: unknown): string;
}

/** The addresses of a server. They are known once it listens: until then, and in a mounted server, they are undefined. */
export interface ServerAddresses {
  http?: { readonly address: string; readonly port: number };
  /** http://127.0.0.1:2024 */
  url?: string;
  /** Where gRPC has a port of its own. */
  grpcPort?: number;
}

export interface ServicesParts extends ServerParts {
  readonly addresses: ServerAddresses;
  /** The server does not listen: another program hands in its requests. */
  readonly mount?: { readonly path: string | undefined } | undefined;
}

export interface WiringParts extends ServicesParts {
  /** Cards name an address for gRPC. */
  readonly hasGrpc: boolean;
}

export type Services = Awaited<ReturnType<typeof createServices>>;

/** Opens all services. If one fails, those that are open are closed again. */
export async function createServices(parts: ServicesParts, { clock, randomHex }: ServerEnvironment) {
  const { settings, log } = parts;
  const { now, wallTime, ticks } = clock;
  checkAuthSettings(parts);
  checkHealthPrefix(settings.healthPrefix, listDialects(settings, parts.ports));
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closeOne of closers.toReversed()) await closeOne();
  };
  try {
    const newId = createIdGenerator({ now, randomHex });
    const isMounted = parts.mount !== undefined;
    const consoleMode = consoleModeOf(settings, isMounted);
    const telemetry = await openServerTelemetry(
      parts,
      { now, wallTime, ticks, newId },
      consoleMode !== "off",
    );
    closers.push(telemetry.close);
    const node = randomUUID();
    const loop = new LoopBudget(LIMITS.catchUpEventsMax);
    const opened = await openStore({ settings, clock, loop, telemetry, node, log, ports: parts.ports ?? {} });
    closers.push(opened.close);
    const { store, bus, changes, commits } = opened;
    // Ids of the newest recorded millisecond may be in use.
    clock.notBefore(store.lastAt + 1);
    const keys = await openKeys(settings, opened, wallTime, log);
    const calls = createOutbound({ allow: settings.callAllow, connectMs: LIMITS.connectMs });
    const webhooks = createWebhookFetch(settings);
    closers.push(calls.close, webhooks.close);
    const outbound = telemetry.outbound(calls);
    const fetch = outbound.trusted;
    const items = openItems({ ...parts, embed: parts.functions?.embed, store: store.items, fetch });
    const catalog = createCatalog(parts.agents.map(telemetry.agent), parts.defaultAgent, wallTime);
    const { openTokens } = opened;
    const { customAuth } = parts.functions ?? {};
    const authParts = {
      settings,
      catalog,
      fetch,
      wallTime,
      ticks,
      openTokens,
      randomHex,
      isMounted,
      customAuth,
      methods: parts.ports?.authenticators ?? [],
    };
    const auth = await openAuth(authParts);
    closers.push(auth.close);
    const credentialParts = { storage: store.storage, encryption: keys.encryption, fetch, log, wallTime };
    const providers = settings.oauth ?? {};
    const oauth = createOAuth({ ...credentialParts, providers, base: () => publicBase(parts) });
    const base = { clock, randomHex, newId, node, loop, telemetry, store, commits, bus, changes };
    return { ...base, keys, outbound, webhooks, items, catalog, auth, consoleMode, oauth, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const openServerTelemetry = (
  { settings, levels, log, development }: ServicesParts,
  clock: Pick<TelemetryParts, "now" | "wallTime" | "ticks" | "newId">,
  counts: boolean,
): Promise<Telemetry> =>
  openTelemetry({
    ...settings,
    ...clock,
    levels,
    log,
    observer: development?.observer,
    counts,
    version: readVersion,
  });

/** The base URL by which callers reach this server; undefined: not known. */
export const publicBase = ({ settings, addresses }: ServicesParts): string | undefined =>
  settings.publicUrl ?? (addresses.url === undefined ? undefined : toReachable(addresses.url));

/** Callers cannot connect to the address that stands for all interfaces. */
export const toReachable = (url: string): string => url.replace(/\/\/(0\.0\.0\.0|\[::\])/, "//127.0.0.1");

const createWebhookFetch = (settings: ServerSettings) =>
  createGuardedFetch({
    allow: settings.pushAllow,
    loopback: settings.pushAllowLoopback,
    http: settings.pushHttp,
    connectMs: LIMITS.connectMs,
  });

async function openKeys(settings: ServerSettings, store: OpenedStore, now: () => number, log: Log) {
  const isGiven = (settings.keys ?? settings.keysCommand ?? settings.keyFile) !== undefined;
  const shared = isGiven ? undefined : await store.sharedKeys(() => createKeysText(now()));
  if (shared !== undefined) log.warn({}, KEYS_IN_DATABASE);
  const source = { ...settings, ...(shared !== undefined && { keys: shared }) };
  const keys = loadKeys({ ...source, lost: store.findLostKeys, now, log });
  store.markOpened(keyFileOf(source) !== undefined);
  return keys;
}

const KEYS_IN_DATABASE =
  "the keys of this cluster are stored in its database, beside the data that they encrypt; set keys, keysCommand or keyFile to store them elsewhere";
