import type { AgentName } from "./model/index.ts";
import type { Agent, Catalog } from "./ports.ts";

/** The agents that are served; they may change while the server runs. */
export interface LiveCatalog extends Catalog {
  readonly modifiedAt: number;
  replace(agents: readonly Agent[], fallback: AgentName): void;
}

export function createCatalog(agents: readonly Agent[], fallback: AgentName, now: () => number): LiveCatalog {
  let all = agents;
  let byName = new Map(agents.map(agent => [agent.name, agent]));
  let names = new Set(byName.keys());
  let first = fallback;
  let modifiedAt = now();
  return {
    find: name => byName.get(name ?? first),
    all: () => all,
    names: () => names,
    get fallback() {
      return first;
    },
    get modifiedAt() {
      return modifiedAt;
    },
    replace(newAgents, newFallback) {
      all = newAgents;
      byName = new Map(newAgents.map(agent => [agent.name, agent]));
      names = new Set(byName.keys());
      first = newFallback;
      modifiedAt = now();
    },
  };
}
