import { isSame } from "../lib/json.ts";
import { type AgentName, LIMITS } from "../model/index.ts";
import type { Agent, Log, Outbound } from "../ports/index.ts";

export interface UpstreamParts {
  readonly outbound: Outbound;
  readonly log: Log;
  readonly agents: () => readonly Agent[];
  /** Serves these from now on. */
  readonly show: (agents: readonly Agent[]) => void;
}

export interface Upstreams {
  /** Reads the cards of agents that stand for others; resolves when all were read, or after a while. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

/** Keeps the cards of agents that stand for others as theirs are. Whoever is away is asked again, and shown as he was. */
export function createUpstreams(parts: UpstreamParts): Upstreams {
  const { outbound, log } = parts;
  const stopped = new AbortController();
  const silent = new Set<AgentName>();
  let timer: NodeJS.Timeout | undefined;

  async function read(agent: Agent): Promise<Agent | undefined> {
    const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(LIMITS.upstreamMs)]);
    try {
      const card = await agent.upstream?.card(outbound, signal);
      silent.delete(agent.name);
      return card && !isSame(card, agent.card) ? { ...agent, card } : undefined;
    } catch (error) {
      if (!silent.has(agent.name) && !stopped.signal.aborted)
        log.warn(
          { agent: agent.name, err: error },
          "the card of another agent cannot be read; it is tried again",
        );
      silent.add(agent.name);
      return undefined;
    }
  }

  async function readAll(): Promise<void> {
    clearTimeout(timer);
    const standing = parts.agents().filter(agent => agent.upstream);
    if (standing.length === 0 || stopped.signal.aborted) return;
    const found = await Promise.all(standing.map(read));
    const changed = new Map(found.flatMap(agent => (agent ? [[agent.upstream, agent] as const] : [])));
    // Other agents may be served by now.
    if (changed.size > 0)
      parts.show(parts.agents().map(agent => (agent.upstream && changed.get(agent.upstream)) || agent));
    if (stopped.signal.aborted) return;
    timer = setTimeout(readAll, silent.size > 0 ? LIMITS.upstreamRetryMs : LIMITS.upstreamEveryMs);
    timer.unref();
  }

  return {
    look: () => Promise.race([readAll(), pause(LIMITS.upstreamWaitMs)]),
    async stop() {
      stopped.abort();
      clearTimeout(timer);
      for (const agent of parts.agents()) agent.upstream?.close();
    },
  };
}

const pause = (ms: number): Promise<void> =>
  new Promise(resolve => {
    setTimeout(resolve, ms).unref();
  });
