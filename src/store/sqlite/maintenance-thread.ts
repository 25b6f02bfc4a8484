import { DatabaseSync } from "node:sqlite";
import type { MessagePort } from "node:worker_threads";
import type { AgentName } from "../../model/index.ts";
import type { Bounds, Journal, Outdated } from "../single-node/backend.ts";
import { checkpointIfLong } from "./checkpoint.ts";
import { createFinder, type Finder } from "./retention-query.ts";
import { startThread } from "./thread.ts";

const LOOK_MS = 200;

/** What the thread is asked; `null`: to end. */
type Wish = { readonly id: number; readonly agent: AgentName; readonly bounds: Bounds } | null;
type Reply =
  | { readonly id: number; readonly found: Outdated }
  | { readonly id: number; readonly error: unknown };

export interface Keeper {
  readonly find: Journal["outdated"];
  stop(): Promise<void>;
}

/**
 * Keeps the file in order from a thread of its own: done between two commits, a checkpoint would stall every caller for
 * milliseconds (measured: half the p99), and a look for old tasks for longer than that.
 */
export function startKeeper(file: string): Keeper {
  const thread = startThread("keep", { file });
  const waiting = new Map<number, PromiseWithResolvers<Outdated>>();
  let wishes = 0;
  const gone = new Promise<void>(resolve => thread.once("exit", () => resolve()));
  // Whoever still waits then is about to be closed, too.
  gone.then(() => {
    for (const { resolve } of waiting.values()) resolve({ tasks: [], logs: [] });
  });
  thread.on("message", (reply: Reply) => {
    const { resolve, reject } = waiting.get(reply.id) as PromiseWithResolvers<Outdated>;
    waiting.delete(reply.id);
    if ("found" in reply) resolve(reply.found);
    else reject(reply.error);
  });
  thread.unref();
  const ask = (wish: Wish): void => thread.postMessage(wish);
  return {
    find(agent, bounds) {
      const answer = Promise.withResolvers<Outdated>();
      waiting.set(++wishes, answer);
      ask({ id: wishes, agent, bounds });
      return answer.promise;
    },
    stop() {
      thread.ref();
      ask(null);
      return gone;
    },
  };
}

/** In the thread. */
export function work({ file }: { readonly file: string }, port: MessagePort): void {
  const db = new DatabaseSync(file, { timeout: 50 });
  let find: Finder | undefined;
  const timer = setInterval(() => {
    try {
      checkpointIfLong(db);
    } catch {
      // Busy: the writer has the file; the next look comes soon.
    }
  }, LOOK_MS);
  port.on("message", (wish: Wish) => {
    if (wish) return port.postMessage(answer(wish, (find ??= createFinder(db))));
    clearInterval(timer);
    db.close();
    port.close();
  });
}

function answer({ id, agent, bounds }: Exclude<Wish, null>, find: Finder): Reply {
  try {
    return { id, found: find(agent, bounds) };
  } catch (error) {
    return { id, error };
  }
}
