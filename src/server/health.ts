/** Health endpoints: whether the process lives, whether it can take work, and what it serves. */
import type { CommitObserver, Endpoint, EndpointResponse } from "../ports/index.ts";

export interface HealthRouteParts {
  /** The path before /livez, /readyz and /info. */
  readonly prefix: string;
  /** false: the server is stopping. */
  readonly isOpen: () => boolean;
  /** The runner claims due tasks. */
  readonly isRunning: () => boolean;
  /** Writes a commit that changes nothing; rejects if the store cannot write. */
  readonly checkStore: () => Promise<void>;
  readonly commits: CommitState;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  /** The public content of /info. */
  readonly info: () => object;
  /** Called once when the store becomes unhealthy. undefined: it can write, but a commit failed. */
  readonly onStoreError: (error: unknown) => void;
}

/** One check of the store per second at most: frequent probes must not load the disk. */
const CHECK_MS = 1_000;

/** The checks of readiness by name: "ok", or the problem. */
export type CheckReady = () => Promise<Readonly<Record<string, string>>>;

export function createReadyCheck(parts: Omit<HealthRouteParts, "prefix" | "info">): CheckReady {
  const checkStore = createStoreCheck(parts);
  return async () => ({
    store: await checkStore(),
    runner: parts.isRunning() ? "ok" : "not running",
    open: parts.isOpen() ? "ok" : "stopping",
  });
}

export function createHealthRoutes(
  parts: Pick<HealthRouteParts, "prefix" | "info"> & { readonly checkReady: CheckReady },
): readonly Endpoint[] {
  async function ready(): Promise<EndpointResponse> {
    const checks = await parts.checkReady();
    const isReady = Object.values(checks).every(result => result === "ok");
    return toResponse(isReady ? 200 : 503, { status: isReady ? "ready" : "not ready", checks });
  }

  const [livez, readyz, info] = healthPaths(parts.prefix);
  return [
    { verb: "GET", path: livez, serve: () => toResponse(200, { status: "alive" }) },
    { verb: "GET", path: readyz, serve: ready },
    { verb: "GET", path: info, serve: () => toResponse(200, parts.info()) },
  ];
}

export const healthPaths = (prefix: string) =>
  [`${prefix}/livez`, `${prefix}/readyz`, `${prefix}/info`] as const;

const toResponse = (status: number, body: object): EndpointResponse => ({
  status,
  headers: {},
  text: JSON.stringify(body),
});

type StoreHealth = "ok" | "cannot write" | "a commit failed";

/**
 * A failed commit is reported at least once, unless a later commit succeeded. After that the empty commit of the check
 * decides: a server that gets no calls because it is not ready has no other commits.
 */
function createStoreCheck(
  parts: Pick<HealthRouteParts, "checkStore" | "commits" | "ticks" | "onStoreError">,
): () => Promise<StoreHealth> {
  const { checkStore, commits, ticks, onStoreError } = parts;
  let last: Promise<StoreHealth> | undefined;
  let checkedAt = 0;
  let health: StoreHealth = "ok";

  async function check(): Promise<StoreHealth> {
    const { failing } = commits;
    // A commit that fails during the check sets it again.
    commits.failing = false;
    const before = health;
    try {
      await checkStore();
      health = failing ? "a commit failed" : "ok";
      if (failing && before === "ok") onStoreError(undefined);
    } catch (error) {
      health = "cannot write";
      if (before === "ok") onStoreError(error);
    }
    return health;
  }

  return () => {
    if (!last || ticks() - checkedAt >= CHECK_MS) {
      checkedAt = ticks();
      last = check();
    }
    return last;
  };
}

export interface CommitState extends CommitObserver {
  /** The newest commit failed, and none succeeded since. */
  failing: boolean;
}

/** Observes commits for the health check, and passes them on to `inner`. */
export function watchCommits(inner: CommitObserver | undefined): CommitState {
  const succeed = (): void => {
    state.failing = false;
  };
  const state: CommitState = {
    failing: false,
    startCommit() {
      const done = inner?.startCommit();
      if (!done) return succeed;
      return (tasks, events) => {
        state.failing = false;
        done(tasks, events);
      };
    },
    onFailure() {
      state.failing = true;
      inner?.onFailure();
    },
  };
  return state;
}
