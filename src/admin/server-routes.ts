import { LIMITS } from "../model/index.ts";
import type { Authenticator, Store } from "../ports/index.ts";
import type { AdminRoute } from "./access.ts";
import type { DialectInfo, LogPage, Me } from "./api.ts";
import type { LimitRow, NodeRow, OptionRow, ServerInfo } from "./api-server.ts";
import type { FigureRecorder } from "./figures.ts";
import { findTask } from "./find-tasks.ts";
import { LOG_LEVELS, type LogLines } from "./log-lines.ts";
import { readChoice, readInteger, readTaskId, reply } from "./parameters.ts";
import type { CountTasks } from "./task-counts.ts";

export interface ServerRouteParts {
  readonly node: string;
  readonly version: string;
  readonly nodeVersion: string;
  readonly console: "read" | "on";
  readonly authenticator: Authenticator;
  readonly store: Store;
  readonly countTasks: CountTasks;
  readonly storeKind: ServerInfo["store"]["kind"];
  readonly figures: FigureRecorder;
  readonly lines: LogLines;
  readonly features: Omit<Me["features"], "dialects" | "cluster">;
  readonly dialects: readonly DialectInfo[];
  /** Options with their values, without secrets. */
  readonly options: () => readonly OptionRow[];
  readonly limits: () => readonly LimitRow[];
  readonly checkHealth: () => Promise<Readonly<Record<string, string>>>;
  readonly wallTime: () => number;
}

const LINES_DEFAULT = 200;
const LINES_MAX = 1_000;

export function createServerRoutes(parts: ServerRouteParts): readonly AdminRoute[] {
  const startedAt = parts.wallTime();
  return [
    {
      verb: "GET",
      path: "/me",
      needs: "read",
      summary: "The caller, its permissions, and what the server offers",
      serve(_call, { principal, isOperator, mayAct }) {
        const me: Me = {
          principal: principal.subject,
          tenants: principal.tenants,
          permissions: principal.grants,
          isOperator,
          mayAct,
          console: parts.console,
          needsToken: parts.authenticator.schemes.length > 0,
          version: parts.version,
          node: parts.node,
          nowAt: parts.wallTime(),
          features: {
            ...parts.features,
            dialects: parts.dialects,
            cluster: parts.storeKind === "postgres",
          },
        };
        return reply(me);
      },
    },
    {
      verb: "GET",
      path: "/server",
      needs: "operator",
      summary: "The state of the server: health, nodes, store, figures",
      serve: async () => reply(await readServer(parts, startedAt)),
    },
    ...createFigureRoutes(parts),
    ...createLogRoutes(parts),
  ];
}

async function readServer(parts: ServerRouteParts, startedAt: number): Promise<ServerInfo> {
  const { store, figures, node, version } = parts;
  const checks = await parts.checkHealth();
  const { calls, pushes } = figures.totals();
  const self: NodeRow = { id: node, isThis: true, version, startedAt, seenAt: parts.wallTime() };
  const others = (await store.overview.nodes()).filter(({ id }) => id !== node);
  return {
    node,
    version,
    nodeVersion: parts.nodeVersion,
    startedAt,
    isReady: Object.values(checks).every(result => result === "ok"),
    checks,
    store: { kind: parts.storeKind, bytes: await store.maintenance.bytes() },
    nodes: [self, ...others.map(one => ({ ...one, isThis: false }))],
    current: figures.current(),
    totals: {
      calls: calls.reduce((sum, one) => sum + one.count, 0),
      callsByDialect: sumBy(calls, one => one.dialect),
      callsByOperation: sumBy(calls, one => one.operation),
      faults: sumBy(
        calls.filter(one => one.outcome !== "ok"),
        one => one.outcome,
      ),
      deliveries: pushes,
    },
    tasks: await parts.countTasks({}),
  };
}

function sumBy<T extends { readonly count: number }>(
  all: readonly T[],
  key: (one: T) => string,
): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const one of all) sums.set(key(one), (sums.get(key(one)) ?? 0) + one.count);
  return Object.fromEntries(sums);
}

const createFigureRoutes = ({ figures, options, limits }: ServerRouteParts): readonly AdminRoute[] => [
  {
    verb: "GET",
    path: "/server/figures",
    needs: "operator",
    summary: "Figures of this node over the last hour or day",
    serve: ({ query }) => reply(figures.history(readChoice(query, "range", ["1h", "24h"]) ?? "1h")),
  },
  {
    verb: "GET",
    path: "/server/config",
    needs: "operator",
    summary: "The options of the server, without secrets",
    serve: () => reply({ options: options() }),
  },
  {
    verb: "GET",
    path: "/server/limits",
    needs: "operator",
    summary: "The limits of the server, and how much of them is used",
    serve: () => reply({ limits: limits() }),
  },
];

const createLogRoutes = ({ node, lines, store }: ServerRouteParts): readonly AdminRoute[] => [
  {
    verb: "GET",
    path: "/logs",
    needs: "operator",
    summary: "The newest lines of the log of this node",
    serve({ query }) {
      const level = readChoice(query, "level", LOG_LEVELS) ?? "debug";
      const lowest = LOG_LEVELS.indexOf(level);
      const max = readInteger(query, "max", LINES_DEFAULT, LINES_MAX);
      const found = lines.find(line => LOG_LEVELS.indexOf(line.level) >= lowest, max);
      const page: LogPage = { node, lines: found, isShortened: lines.isShortened() };
      return reply(page);
    },
  },
  {
    verb: "GET",
    path: "/tasks/{id}/logs",
    needs: "operator",
    summary: "The lines that this node logged about a task",
    async serve(call, caller) {
      const { task } = await findTask(store, readTaskId(call), caller);
      const found = lines.find(line => line.task === task.id, LINES_MAX);
      const page: LogPage = { node, lines: found, isShortened: lines.isShortened() };
      return reply(page);
    },
  },
];

/** The limits of this server; `used`: those whose current value is known. */
export const toLimitRows = (
  settings: Readonly<Record<string, unknown>>,
  used: Readonly<Record<string, number>>,
): readonly LimitRow[] =>
  Object.entries(LIMITS).map(([name, fallback]) => {
    const value = settings[name];
    return { name, value: typeof value === "number" ? value : fallback, used: used[name] ?? null };
  });
