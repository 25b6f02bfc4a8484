import type { Endpoint, EndpointResponse } from "../../ports/index.ts";
import type { CommitState } from "./commits.ts";

export { type CommitState, watchCommits } from "./commits.ts";

export interface HealthParts {
  /** Before the paths. */
  readonly prefix: string;
  /** false: the server is stopping. */
  readonly isOpen: () => boolean;
  /** Whether due tasks are taken. */
  readonly isRunning: () => boolean;
  /** Writes a commit that changes nothing; rejects if the store cannot write. */
  readonly checkStore: () => Promise<void>;
  readonly commits: CommitState;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  /** What everybody may know. */
  readonly info: () => object;
  /** Told when the store can no longer write, once; undefined: it can, but a commit failed. */
  readonly onTrouble: (error: unknown) => void;
}

/** For how long a look at the store counts: whoever asks more often must not wear out the disk. */
const CHECK_MS = 1_000;

/** Whether the process is there, whether it can take work, and what it is. */
export function createHealth(parts: HealthParts): readonly Endpoint[] {
  const storeState = createStoreCheck(parts);

  async function ready(): Promise<EndpointResponse> {
    const checks = {
      store: await storeState(),
      runner: parts.isRunning() ? "ok" : "not running",
      open: parts.isOpen() ? "ok" : "stopping",
    };
    const isReady = Object.values(checks).every(found => found === "ok");
    return toReply(isReady ? 200 : 503, { status: isReady ? "ready" : "not ready", checks });
  }

  const [livez, readyz, info] = healthPaths(parts.prefix);
  return [
    { verb: "GET", path: livez, serve: () => toReply(200, { status: "alive" }) },
    { verb: "GET", path: readyz, serve: ready },
    { verb: "GET", path: info, serve: () => toReply(200, parts.info()) },
  ];
}

export const healthPaths = (prefix: string) =>
  [`${prefix}/livez`, `${prefix}/readyz`, `${prefix}/info`] as const;

type StoreState = "ok" | "cannot write" | "a commit failed";

/**
 * A commit that failed is told at least once, unless a later one succeeded. Then the commit that changes nothing decides:
 * a server that gets no calls because it is not ready has no other commits that could succeed.
 */
function createStoreCheck(parts: HealthParts): () => Promise<StoreState> {
  const { checkStore, commits, ticks, onTrouble } = parts;
  let last: Promise<StoreState> | undefined;
  let at = 0;
  let state: StoreState = "ok";
  async function look(): Promise<StoreState> {
    const { failing } = commits;
    // Set again by a commit that fails meanwhile.
    commits.failing = false;
    const before = state;
    try {
      await checkStore();
      state = failing ? "a commit failed" : "ok";
      if (failing && before === "ok") onTrouble(undefined);
    } catch (error) {
      state = "cannot write";
      if (before === "ok") onTrouble(error);
    }
    return state;
  }
  return () => {
    if (!last || ticks() - at >= CHECK_MS) {
      at = ticks();
      last = look();
    }
    return last;
  };
}

const toReply = (status: number, body: object): EndpointResponse => ({
  status,
  headers: {},
  text: JSON.stringify(body),
});
