import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { type AgentName, LIMITS } from "../../src/model/index.ts";
import type { Log } from "../../src/ports/index.ts";
import { toAgent } from "../../src/runtime/function/index.ts";
import {
  type RunningServer,
  type ServerParts,
  type ServerSettings,
  startServer,
} from "../../src/server/create-server.ts";
import { storeOf } from "./test-store.ts";

export const SETTINGS: ServerSettings = {
  port: 0,
  host: "127.0.0.1",
  grpcPort: undefined,
  grpcReflection: "on",
  tlsCert: undefined,
  tlsKey: undefined,
  data: ":memory:",
  publicUrl: undefined,
  trustProxy: false,
  httpFastPath: true,
  cardPolicy: "hybrid",
  versionPolicy: "lenient",
  errorTable: "1.0.1",
  langgraph: "on",
  langgraphApi: "on",
  orloj: "on",
  arbiter: "on",
  simple: "on",
  openai: "on",
  aisdk: "on",
  agui: "on",
  catalog: "on",
  v11: "off",
  durability: "process",
  acceptDataLoss: false,
  bodyBytesMax: LIMITS.bodyBytesMax,
  runsMax: LIMITS.runsMax,
  streamsMax: LIMITS.streamsMax,
  heartbeatMs: LIMITS.heartbeatMs,
  cancelGraceMs: 300,
  drainMs: 300,
  leaseMs: LIMITS.leaseMs,
  attemptsMax: LIMITS.attemptsMax,
  firstEventTimeoutMs: LIMITS.firstEventTimeoutMs,
  sendWaitMs: 0,
  longPollMs: LIMITS.longPollMs,
  sweepMs: LIMITS.sweepMs,
  auth: ["none"],
  insecure: false,
  apiKeys: undefined,
  apiKeyHeader: "X-API-Key",
  jwt: undefined,
  tlsClientCa: undefined,
  clientCertificates: undefined,
  cors: undefined,
  allowedHosts: undefined,
  console: undefined,
  metrics: true,
  healthPrefix: "",
  adminPort: undefined,
  adminHost: "127.0.0.1",
  logBodies: false,
  traceContent: false,
  otel: undefined,
  pushAllow: [],
  pushAllowLoopback: true,
  pushHttp: false,
  pushSnapshot: true,
  pushesMax: LIMITS.pushesMax,
  pushTimeoutMs: 2_000,
  pushRetryMs: 20,
  pushGiveUpMs: LIMITS.pushGiveUpMs,
  hopsMax: LIMITS.hopsMax,
  callAllow: [],
  mcp: false,
  mcpWaitMs: LIMITS.mcpWaitMs,
  mcpServers: {},
  a2a: true,
  authFile: undefined,
  items: {},
  signCards: false,
  keyFile: undefined,
  keys: undefined,
  keysCommand: undefined,
  oauth: undefined,
  notify: undefined,
  databaseDirectUrl: undefined,
  databaseConnectionsMax: LIMITS.databaseConnectionsMax,
  quotas: {},
  queueMax: LIMITS.queueMax,
  queueWaitMs: LIMITS.queueWaitMs,
  connectionsMax: LIMITS.connectionsMax,
  unreadBytesMax: LIMITS.unreadBytesMax,
};

export interface Logged {
  readonly level: string;
  readonly facts: Record<string, unknown>;
  readonly text: string;
}

export function createTestLog(): Log & { readonly lines: Logged[] } {
  const lines: Logged[] = [];
  const at =
    (level: string) =>
    (facts: object, text: string): void =>
      void lines.push({ level, facts: facts as Record<string, unknown>, text });
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export interface TestServer extends RunningServer {
  readonly log: ReturnType<typeof createTestLog>;
}

/**
 * A real server on a free port, in this process, with agents given as definitions; the first one is the
 * default.
 */
export async function serve(
  definitions: readonly AgentDefinition[],
  settings: Partial<ServerSettings> = {},
  functions: ServerParts["functions"] = {},
): Promise<TestServer> {
  const log = createTestLog();
  const agents = definitions.map(toAgent);
  const defaultAgent = agents[0]?.name as AgentName;
  const data = await storeOf(settings.data ?? SETTINGS.data);
  const running = await startServer({
    settings: { ...SETTINGS, ...settings, data },
    agents,
    defaultAgent,
    functions,
    log,
  });
  return Object.assign(Object.create(running) as RunningServer, { log });
}

/** A folder for one test, deleted after it. */
export function tempFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "dragoman-test-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
