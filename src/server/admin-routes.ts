/** The HTTP endpoints of the server itself: health, metrics, administration, and the port that serves each. */
import { adminOnly } from "../auth/index.ts";
import { createRoutes } from "../http/routes.ts";
import { API_VERSION, INFO as LANGGRAPH_INFO } from "../langgraph-api/index.ts";
import { StartupError } from "../lib/startup-error.ts";
import type { Authenticator, Catalog, Dialect, Endpoint, Log, Store } from "../ports/index.ts";
import type { Telemetry } from "../telemetry/index.ts";
import { type LevelSwitch, levelRoutes } from "../telemetry/level.ts";
import { isForAllCallers } from "./catalog.ts";
import {
  type CheckReady,
  type CommitState,
  createHealthRoutes,
  createReadyCheck,
  healthPaths,
} from "./health.ts";

export interface ServerEndpointParts {
  readonly settings: {
    readonly healthPrefix: string;
    readonly adminPort: number | undefined;
    readonly langgraphApi: "on" | "off";
    readonly langgraphFile?: object | undefined;
  };
  readonly telemetry: Telemetry;
  readonly levels: LevelSwitch | undefined;
  readonly store: Store;
  readonly commits: CommitState;
  readonly authenticator: Authenticator;
  readonly catalog: Catalog;
  readonly dialects: readonly Dialect[];
  readonly log: Log;
  readonly version: () => string;
  readonly ticks: () => number;
  readonly isOpen: () => boolean;
  /** undefined: the workers have not started. */
  readonly runner: () => { readonly running: number; readonly isAlive: boolean } | undefined;
  readonly streamsOpen: () => number;
  readonly unreadBytes: () => number;
  /** Endpoints of other parts of the server. */
  readonly others: readonly Endpoint[];
  /** The admin API and the console. */
  readonly openConsole: (checkReady: CheckReady) => ServerEndpoints;
}

export interface ServerEndpoints {
  /** On the port of callers. */
  readonly public: readonly Endpoint[];
  /** On the admin port; empty: there is none. */
  readonly admin: readonly Endpoint[];
}

/** With an admin port, `/admin` and `/metrics` are served there alone, health and the console on both ports. */
export function createServerEndpoints(parts: ServerEndpointParts): ServerEndpoints {
  const { authenticator, settings } = parts;
  const checkReady = toReadyCheck(parts);
  const health = healthRoutes(parts, checkReady);
  const consoles = parts.openConsole(checkReady);
  const metrics = parts.telemetry.routes({ ...parts, runsRunning: () => parts.runner()?.running ?? 0 });
  const levels = parts.levels ? levelRoutes(parts.levels) : [];
  const all = [...parts.others, ...levels.map(endpoint => adminOnly(endpoint, authenticator))];
  if (settings.adminPort === undefined) {
    const guarded = metrics.map(endpoint => adminOnly(endpoint, authenticator));
    return { public: [...all, ...health, ...guarded, ...consoles.public], admin: [] };
  }
  return {
    public: [...all.filter(endpoint => !isAdminPath(endpoint)), ...health, ...consoles.public],
    admin: [...all.filter(isAdminPath), ...health, ...metrics, ...consoles.admin],
  };
}

const isAdminPath = ({ path }: Endpoint): boolean => path === "/admin" || path.startsWith("/admin/");

function toReadyCheck(parts: ServerEndpointParts): CheckReady {
  const { store, log } = parts;
  return createReadyCheck({
    isOpen: parts.isOpen,
    isRunning: () => parts.runner()?.isAlive === true,
    checkStore: () => store.maintenance.check(),
    commits: parts.commits,
    ticks: parts.ticks,
    onStoreError: error =>
      error === undefined
        ? log.error({}, "a commit failed: this server is not ready")
        : log.error({ err: error }, "the store cannot write: this server is not ready"),
  });
}

function healthRoutes(parts: ServerEndpointParts, checkReady: CheckReady): readonly Endpoint[] {
  const { settings, catalog, dialects } = parts;
  return createHealthRoutes({
    prefix: settings.healthPrefix,
    checkReady,
    info: () => ({
      name: "dragoman",
      version: parts.version(),
      dialects: dialects.map(dialect => dialect.name),
      agents: catalog
        .all()
        .filter(isForAllCallers)
        .map(({ name }) => name),
      ...(settings.langgraphApi === "on" && LANGGRAPH_INFO),
      // Clients of a LangGraph project expect the version of its API there.
      ...(settings.langgraphFile && { version: API_VERSION, server_version: parts.version() }),
    }),
  });
}

/** The health endpoints must not hide a route of a dialect. */
export function checkHealthPrefix(prefix: string, dialects: readonly Dialect[]): void {
  const match = createRoutes(dialects, []);
  for (const path of healthPaths(prefix)) {
    const route = match(path);
    if (route)
      throw new StartupError(
        `The path ${path} belongs to ${route.endpoint}. Choose another --health-prefix than "${prefix}".`,
      );
  }
}
