import type { Own, OwnReply } from "../ports.ts";

export interface HealthParts {
  /** Before the paths. */
  readonly prefix: string;
  /** false: the server is stopping. */
  readonly isOpen: () => boolean;
  /** Whether due tasks are taken. */
  readonly isRunning: () => boolean;
  /** Rejects if the store cannot write. */
  readonly checkStore: () => Promise<void>;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  /** What everybody may know. */
  readonly info: () => object;
  /** Told when the store can no longer write, once. */
  readonly onTrouble: (error: unknown) => void;
}

/** For how long a look at the store counts: whoever asks more often must not wear out the disk. */
const CHECK_MS = 1_000;

/** Whether the process is there, whether it can take work, and what it is. */
export function createHealth(parts: HealthParts): readonly Own[] {
  const isStoreFine = createStoreCheck(parts);

  async function ready(): Promise<OwnReply> {
    const checks = {
      store: (await isStoreFine()) ? "ok" : "cannot write",
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

function createStoreCheck({ checkStore, ticks, onTrouble }: HealthParts): () => Promise<boolean> {
  let last: Promise<boolean> | undefined;
  let at = 0;
  let wasFine = true;
  async function look(): Promise<boolean> {
    try {
      await checkStore();
      wasFine = true;
    } catch (error) {
      if (wasFine) onTrouble(error);
      wasFine = false;
    }
    return wasFine;
  }
  return () => {
    if (!last || ticks() - at >= CHECK_MS) {
      at = ticks();
      last = look();
    }
    return last;
  };
}

const toReply = (status: number, body: object): OwnReply => ({
  status,
  headers: {},
  text: JSON.stringify(body),
});
