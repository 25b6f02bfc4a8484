import { PERMISSIONS } from "../model/index.ts";
import type * as api from "./api.ts";
import type * as server from "./api-server.ts";
import {
  anyJson,
  anyObject,
  choice,
  duration,
  flag,
  integer,
  list,
  name,
  nullable,
  number,
  object,
  record,
  text,
  time,
} from "./schema.ts";
import { dialectInfo, taskCounts } from "./task-schemas.ts";

const permissions = list(choice(PERMISSIONS));
const mode = choice(["read", "on"]);

export const me = name(
  "Me",
  object<api.Me>({
    principal: text,
    tenants: list(text),
    permissions,
    isOperator: flag,
    mayAct: flag,
    console: mode,
    needsToken: flag,
    version: text,
    node: text,
    nowAt: time,
    features: object<api.Me["features"]>({
      dialects: list(dialectInfo),
      tokens: flag,
      grpc: flag,
      mcp: flag,
      openai: flag,
      cluster: flag,
    }),
  }),
);

// ---- agents ------------------------------------------------------------------------------------------------------

const skill = name(
  "AgentSkillRow",
  object<api.AgentSkillRow>({
    id: text,
    name: text,
    description: text,
    tags: list(text),
    examples: list(text),
    inputSchema: nullable(anyObject),
  }),
);

const runs = name(
  "AgentRuns",
  object<api.AgentRuns>({
    node: text,
    finished: integer,
    failed: integer,
    crashes: integer,
    lastEndedAt: nullable(time),
  }),
);

export const agentRow = name(
  "AgentRow",
  object<api.AgentRow>({
    name: text,
    description: text,
    version: text,
    isDefault: flag,
    runtime: text,
    health: choice(["ok", "failing", "idle"]),
    replies: choice(["task", "message", "either"]),
    streaming: flag,
    pushNotifications: flag,
    hasExtendedCard: flag,
    access: choice(["public", "authenticated"]),
    inputSchema: nullable(anyObject),
    outputSchema: nullable(anyObject),
    inputModes: list(text),
    outputModes: list(text),
    skills: list(skill),
    tasks: taskCounts,
    runs: nullable(runs),
    addresses: list(
      name("AgentUrl", object<api.AgentUrl>({ dialect: text, title: text, binding: text, url: text })),
    ),
  }),
);

const finding = name(
  "CardFinding",
  object<api.CardFinding>({
    level: choice(["error", "warning", "note"]),
    title: text,
    text,
    section: text,
    path: text,
  }),
);

const signature = name(
  "CardSignature",
  object<api.CardSignature>({
    isValid: flag,
    keyId: nullable(text),
    algorithm: nullable(text),
    text,
  }),
);

export const cardForm = name(
  "CardForm",
  object<api.CardForm>({
    form: text,
    title: text,
    path: text,
    card: anyObject,
    findings: list(finding),
    passed: integer,
    signatures: list(signature),
  }),
);

// ---- log lines ---------------------------------------------------------------------------------------------------

const line = name(
  "LogLine",
  object<api.LogLine>({
    at: time,
    level: choice(["debug", "info", "warn", "error"]),
    text,
    task: nullable(text),
    run: nullable(integer),
    facts: anyObject,
  }),
);

export const logPage = name(
  "LogPage",
  object<api.LogPage>({ node: text, lines: list(line), isShortened: flag }),
);

// ---- the server --------------------------------------------------------------------------------------------------

const percentiles = name(
  "Percentiles",
  object<server.Percentiles>({
    p50: nullable(duration),
    p95: nullable(duration),
    p99: nullable(duration),
  }),
);

const figures = name(
  "Figures",
  object<server.Figures>({
    at: time,
    calls: integer,
    faults: integer,
    callMs: percentiles,
    firstEventMs: percentiles,
    streams: integer,
    runs: integer,
    queue: integer,
    events: integer,
    commits: integer,
    commitMs: percentiles,
    deliveriesTaken: integer,
    deliveriesFailed: integer,
    storeBytes: integer,
    memoryBytes: integer,
  }),
);

export const figuresPage = name(
  "FiguresPage",
  object<server.FiguresPage>({ node: text, stepMs: duration, samples: list(figures) }),
);

const node = name(
  "NodeRow",
  object<server.NodeRow>({ id: text, isThis: flag, version: text, startedAt: time, seenAt: time }),
);

type Totals = server.ServerInfo["totals"];

export const serverInfo = name(
  "ServerInfo",
  object<server.ServerInfo>({
    node: text,
    version: text,
    nodeVersion: text,
    startedAt: time,
    isReady: flag,
    checks: record(text),
    store: object<server.ServerInfo["store"]>({
      kind: choice(["memory", "sqlite", "postgres"]),
      bytes: integer,
    }),
    nodes: list(node),
    current: figures,
    totals: object<Totals>({
      calls: integer,
      callsByDialect: record(integer),
      callsByOperation: record(integer),
      faults: record(integer),
      deliveries: object<Totals["deliveries"]>({ taken: integer, failed: integer, givenUp: integer }),
    }),
    tasks: taskCounts,
  }),
);

export const optionRow = name(
  "OptionRow",
  object<server.OptionRow>({ name: text, help: text, value: anyJson, isDefault: flag }),
);

export const limitRow = name(
  "LimitRow",
  object<server.LimitRow>({ name: text, value: number, used: nullable(number) }),
);

export const tokenInfo = name(
  "TokenInfo",
  object<server.TokenInfo>({
    id: text,
    name: nullable(text),
    principal: text,
    tenants: list(text),
    agents: nullable(list(text)),
    permissions,
    createdAt: time,
    expiresAt: nullable(time),
    revokedAt: nullable(time),
    usedAt: nullable(time),
  }),
);

export const docPage = name("DocPage", object<server.DocPage>({ path: text, title: text, section: text }));
