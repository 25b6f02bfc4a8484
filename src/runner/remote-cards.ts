import { isDeepEqual } from "../lib/json.ts";
import { type AgentName, LIMITS } from "../model/index.ts";
import type { Agent, Log, Outbound } from "../ports/index.ts";

export interface RemoteCardsParts {
  readonly outbound: Outbound;
  readonly log: Log;
  readonly agents: () => readonly Agent[];
  /** Replaces the served agents. */
  readonly show: (agents: readonly Agent[]) => void;
}

export interface RemoteCards {
  /** Reads the cards of all remote agents; resolves when all were read, or after a timeout. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

/** Keeps the cards of local agents that forward to remote ones up to date. While a remote agent is unreachable, its last card is served. */
export function createRemoteCards(parts: RemoteCardsParts): RemoteCards {
  const { outbound, log } = parts;
  const stopped = new AbortController();
  const unreachable = new Set<AgentName>();
  let timer: NodeJS.Timeout | undefined;

  async function read(agent: Agent): Promise<Agent | undefined> {
    const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(LIMITS.upstreamMs)]);
    try {
      const card = await agent.upstream?.card(outbound, signal);
      unreachable.delete(agent.name);
      return card && !isDeepEqual(card, agent.card) ? { ...agent, card } : undefined;
    } catch (error) {
      if (!unreachable.has(agent.name) && !stopped.signal.aborted)
        log.warn(
          { agent: agent.name, err: error },
          "the card of a remote agent could not be read; this is retried",
        );
      unreachable.add(agent.name);
      return undefined;
    }
  }

  async function readAll(): Promise<void> {
    clearTimeout(timer);
    const remote = parts.agents().filter(agent => agent.upstream);
    if (remote.length === 0 || stopped.signal.aborted) return;
    const found = await Promise.all(remote.map(read));
    const changed = new Map(found.flatMap(agent => (agent ? [[agent.upstream, agent] as const] : [])));
    // Other agents may be served by now.
    if (changed.size > 0)
      parts.show(parts.agents().map(agent => (agent.upstream && changed.get(agent.upstream)) || agent));
    if (stopped.signal.aborted) return;
    timer = setTimeout(readAll, unreachable.size > 0 ? LIMITS.upstreamRetryMs : LIMITS.upstreamRefreshMs);
    timer.unref();
  }

  return {
    refresh: () => Promise.race([readAll(), sleep(LIMITS.upstreamWaitMs)]),
    async stop() {
      stopped.abort();
      clearTimeout(timer);
      for (const agent of parts.agents()) agent.upstream?.close();
    },
  };
}

const sleep = (ms: number): Promise<void> =>
  new Promise(resolve => {
    setTimeout(resolve, ms).unref();
  });
