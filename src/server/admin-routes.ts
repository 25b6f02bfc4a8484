/** What whoever runs the server asks of it, and at which door it is answered. */
import { onlyAdmin } from "../auth/admin-only.ts";
import { createRoutes } from "../http/routes.ts";
import type { Authenticator, Catalog, Dialect, Endpoint, Log, Store } from "../ports/index.ts";
import type { Telemetry } from "../telemetry/index.ts";
import { type LevelSwitch, levelRoutes } from "../telemetry/level.ts";
import { type CommitState, createHealth, healthPaths } from "./health/index.ts";

export interface OperateParts {
  readonly settings: { readonly healthPrefix: string; readonly adminPort: number | undefined };
  readonly telemetry: Telemetry;
  readonly levels: LevelSwitch | undefined;
  readonly store: Store;
  readonly commits: CommitState;
  readonly guard: Authenticator;
  readonly catalog: Catalog;
  readonly dialects: readonly Dialect[];
  readonly log: Log;
  readonly version: () => string;
  readonly ticks: () => number;
  readonly isOpen: () => boolean;
  /** undefined: it has not begun. */
  readonly runner: () => { readonly running: number; readonly isAlive: boolean } | undefined;
  readonly streamsOpen: () => number;
  readonly unreadBytes: () => number;
  /** What the server answers beside this. */
  readonly others: readonly Endpoint[];
}

/** The server cannot start, for a reason that whoever starts it can put right; the message says how. */
export class StartRefusal extends Error {
  override readonly name = "StartRefusal";
}

export interface Doors {
  /** Where callers come in. */
  readonly open: readonly Endpoint[];
  /** At the admin port; empty: there is none. */
  readonly admin: readonly Endpoint[];
}

/** With an admin port, what is for administrators is answered only there, and what tells of health there as well. */
export function arrange(parts: OperateParts): Doors {
  const { guard, settings } = parts;
  const health = healthRoutes(parts);
  const metrics = parts.telemetry.routes({ ...parts, runsRunning: () => parts.runner()?.running ?? 0 });
  const levels = parts.levels ? levelRoutes(parts.levels).map(own => onlyAdmin(own, guard)) : [];
  const all = [...parts.others, ...levels];
  if (settings.adminPort === undefined)
    return { open: [...all, ...health, ...metrics.map(own => onlyAdmin(own, guard))], admin: [] };
  return {
    open: [...all.filter(own => !isForAdmins(own)), ...health],
    admin: [...all.filter(isForAdmins), ...health, ...metrics],
  };
}

const isForAdmins = ({ path }: Endpoint): boolean => path === "/admin" || path.startsWith("/admin/");

function healthRoutes(parts: OperateParts): readonly Endpoint[] {
  const { store, log, settings, catalog, dialects } = parts;
  return createHealth({
    prefix: settings.healthPrefix,
    isOpen: parts.isOpen,
    isRunning: () => parts.runner()?.isAlive === true,
    checkStore: () => store.maintenance.check(),
    commits: parts.commits,
    ticks: parts.ticks,
    onTrouble: error =>
      error === undefined
        ? log.error({}, "a commit failed: this server is not ready")
        : log.error({ err: error }, "the store cannot write: this server is not ready"),
    info: () => ({
      name: "dragoman",
      version: parts.version(),
      dialects: dialects.map(dialect => dialect.name),
      // Agents of some tenants only are nothing that others know of.
      agents: catalog.all().flatMap(({ name, policy }) => (policy.tenants ? [] : [name])),
    }),
  });
}

/** A path is answered by one: an agent must not vanish behind the health of the server. Seen before anything is opened. */
export function checkHealthPrefix(prefix: string, dialects: readonly Dialect[]): void {
  const locate = createRoutes(dialects, []);
  for (const path of healthPaths(prefix)) {
    const place = locate(path);
    if (place)
      throw new StartRefusal(
        `${path} is taken by ${place.endpoint}: choose another --health-prefix than "${prefix}".`,
      );
  }
}
