/** The admin API and the console, from the parts of the server. */
import { createAdminApi, type LogLines, startFigures, toLimitRows } from "../admin/index.ts";
import { getOption, OPTION_NAMES } from "../config/options/index.ts";
import { toGrpcAddress } from "../http/base-url.ts";
import type { Streams } from "../http/sse.ts";
import type { Json } from "../lib/json.ts";
import type { Authenticator, Dialect, Endpoint, ExecuteOperation, MeterTotals } from "../ports/index.ts";
import { API_DESCRIPTIONS } from "../protocol/index.ts";
import { createConsolePage } from "./console-page.ts";
import { isPostgresUrl } from "./open-store-admin.ts";
import { listDocs, readDoc, readVersion } from "./package-files.ts";
import type { Services, WiringParts } from "./services.ts";

export interface ConsoleParts {
  readonly parts: WiringParts;
  readonly services: Services;
  readonly console: "read" | "on";
  readonly totals: () => MeterTotals;
  readonly lines: LogLines;
  readonly authenticator: Authenticator;
  readonly dialects: readonly Dialect[];
  readonly streams: Streams;
  readonly limit: ExecuteOperation;
  readonly unreadBytes: () => number;
  readonly runsRunning: () => number;
  readonly checkHealth: () => Promise<Readonly<Record<string, string>>>;
}

export interface OpenConsole {
  /** On the port of callers; with an admin port, operators have no special rights there. */
  readonly public: readonly Endpoint[];
  readonly admin: readonly Endpoint[];
  close(): void;
}

export function openConsole(given: ConsoleParts): OpenConsole {
  const { parts, services, streams, dialects } = given;
  const { settings } = parts;
  const { store, clock } = services;
  const figures = startFigures({
    node: services.node,
    store,
    totals: given.totals,
    streamsOpen: streams.open,
    runsRunning: given.runsRunning,
    memoryBytes: () => process.memoryUsage.rss(),
    wallTime: clock.wallTime,
  });
  const used = (): Readonly<Record<string, number>> => ({
    streamsMax: streams.open(),
    runsMax: given.runsRunning(),
    queueMax: store.runs.waiting(),
    unreadBytesMax: given.unreadBytes(),
  });
  const api = createAdminApi({
    ...services,
    ...given,
    heartbeatMs: settings.heartbeatMs,
    titles: Object.fromEntries(Object.entries(API_DESCRIPTIONS).map(([name, { title }]) => [name, title])),
    dialects,
    now: clock.now,
    wallTime: clock.wallTime,
    ticks: clock.ticks,
    signer: services.keys.signer,
    figures,
    grpcAt: base => (parts.hasGrpc ? toGrpcAddress(base, parts.addresses.grpcPort, settings) : undefined),
    version: readVersion(),
    nodeVersion: process.versions.node,
    storeKind: settings.data === ":memory:" ? "memory" : isPostgresUrl(settings.data) ? "postgres" : "sqlite",
    features: { grpc: parts.hasGrpc, mcp: settings.mcp },
    options: () => toOptionRows(settings),
    limits: () => toLimitRows({ ...settings }, used()),
    tokens: services.auth.tokens,
    listDocs,
    readDoc,
  });
  const page = createConsolePage(parts.log);
  const hasAdminPort = settings.adminPort !== undefined;
  return {
    public: [...api(!hasAdminPort), ...page],
    admin: hasAdminPort ? [...api(true), ...page] : [],
    close: figures.close,
  };
}

const HIDDEN = "•••";

function toOptionRows(settings: object): ReturnType<Parameters<typeof createAdminApi>[0]["options"]> {
  const values = settings as Readonly<Record<string, unknown>>;
  return OPTION_NAMES.filter(name => name in values).map(name => {
    const { help, isSecret, default: fallback } = getOption(name);
    const value = values[name];
    const json = value === undefined ? null : toJson(value);
    return {
      name,
      help,
      value: isSecret && json !== null ? HIDDEN : json,
      isDefault: JSON.stringify(value) === JSON.stringify(fallback),
    };
  });
}

/** Passwords in URLs, and members whose names say that they are secrets, are not shown. */
function toJson(value: unknown): Json {
  const text = JSON.stringify(value, (key, member: unknown) => {
    if (SECRET.test(key) && member !== undefined) return HIDDEN;
    return typeof member === "string" ? withoutPassword(member) : member;
  });
  return text === undefined ? null : (JSON.parse(text) as Json);
}

const SECRET = /secret|password|token$|apiKeys?$|^keys?$|credential|^env$|^headers$|hash/i;

function withoutPassword(text: string): string {
  const url = text.includes("@") ? URL.parse(text) : null;
  if (!url || (url.username === "" && url.password === "")) return text;
  url.username = "";
  url.password = "";
  return url.href.replace("//", `//${HIDDEN}@`);
}
