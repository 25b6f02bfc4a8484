/** One life of a test server: from a start to its crash or its end. */
import type { Timers } from "../lib/timers.ts";
import type { TaskId } from "../model/index.ts";
import type { Fetch } from "../ports/index.ts";
import { type MountedServer, type ServerParts, startMounted } from "../server/create-server.ts";
import type { Backend } from "../store/single-node/backend.ts";
import { createSingleNodeStore } from "../store/single-node/store.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import type { WatchedRuns } from "./watched-runs.ts";

export interface InstanceParts {
  readonly server: ServerParts;
  /** The disk: it survives crashes. */
  readonly backend: Backend;
  readonly clock: VirtualClock;
  readonly randomHex: (bytes: number) => string;
  readonly runs: WatchedRuns;
  readonly onCommitted: (taskId: TaskId) => void;
}

export interface Instance {
  readonly fetch: Fetch;
  /** As SIGKILL: nothing that is not committed survives, all connections break, and nothing happens any more. */
  kill(): void;
  close(): Promise<void>;
}

export async function startInstance(parts: InstanceParts): Promise<Instance> {
  const { runs, clock, randomHex } = parts;
  const death = new AbortController();
  const isDead = (): boolean => death.signal.aborted;
  const { agents, ports } = parts.server;
  const after: Timers["after"] = (ms, call, kind) =>
    isDead() ? () => {} : clock.after(ms, () => void (isDead() || call()), kind);
  const mounted = await startMounted(
    {
      ...parts.server,
      agents: agents.map(agent => runs.watch(agent)),
      ports: { ...ports, store: inner => createStore(parts, inner, isDead) },
    },
    undefined,
    { clock: { ...clock, after }, randomHex, wrapExecute: execute => execute },
  );
  return {
    fetch: createFetch(mounted, death.signal),
    kill() {
      runs.kill();
      death.abort(connectionLost());
    },
    async close() {
      runs.close();
      // A killed server has nothing to finish, and its runs never end.
      const closed = mounted.close();
      if (!isDead()) await closed;
    },
  };
}

type StoreParts = Parameters<typeof createSingleNodeStore>[0];

/** A dead process commits nothing: what it would write is dropped. */
function createStore(
  { backend, onCommitted }: InstanceParts,
  inner: Omit<StoreParts, "backend">,
  isDead: () => boolean,
) {
  const fenced: Backend = Object.create(backend, {
    commit: {
      value: (...changes: Parameters<Backend["commit"]>) => isDead() || backend.commit(...changes),
    },
    prune: {
      value: (...expired: Parameters<Backend["prune"]>) => (isDead() ? [] : backend.prune(...expired)),
    },
    close: { value() {} },
  });
  return createSingleNodeStore({
    ...inner,
    backend: fenced,
    onCommitted(taskId) {
      inner.onCommitted(taskId);
      onCommitted(taskId);
    },
  });
}

const connectionLost = (): Error =>
  new TypeError("fetch failed", {
    cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }),
  });

/** `fetch` without a network; a death breaks the connections. */
function createFetch(server: MountedServer, death: AbortSignal): Fetch {
  return async (url, init = {}) => {
    const signal = init.signal ? AbortSignal.any([death, init.signal]) : death;
    signal.throwIfAborted();
    const response = await server.fetch(new Request(url, { ...init, signal }));
    return response.body ? new Response(breakable(response.body, death), response) : response;
  };
}

/** The error of a stream that was cut is that of the connection. */
function breakable(body: ReadableStream<Uint8Array>, death: AbortSignal): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        controller.error(death.aborted ? death.reason : error);
      }
    },
    cancel: reason => reader.cancel(reason),
  });
}
