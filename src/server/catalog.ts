import { createHash } from "node:crypto";
import type { AgentName, Scope } from "../model/index.ts";
import type { Agent, Catalog, VisibleAgents } from "../ports/index.ts";

/** The agents that are served; they may change while the server runs. */
export interface LiveCatalog extends Catalog {
  readonly defaultAgent: AgentName;
  readonly modifiedAt: number;
  replace(agents: readonly Agent[], fallback: AgentName): void;
}

export function createCatalog(
  agents: readonly Agent[],
  fallback: AgentName,
  wallTime: () => number,
): LiveCatalog {
  let all = agents;
  let byName = byNameAndId(agents);
  let names = new Set(agents.map(agent => agent.name));
  let first = fallback;
  let modifiedAt = wallTime();

  function seenBy(scope: Scope): VisibleAgents {
    const isSeen = (agent: Agent): boolean => maySee(scope, agent);
    if (all.every(isSeen)) return catalog;
    const seen = all.filter(isSeen);
    const fallback = (seen.find(agent => agent.name === first) ?? seen[0])?.name;
    return {
      find(name) {
        const agent = byName.get(name ?? fallback ?? first);
        return agent && isSeen(agent) ? agent : undefined;
      },
      all: () => seen,
      defaultAgent: fallback,
    };
  }

  const catalog: LiveCatalog = {
    find: name => byName.get(name ?? first),
    all: () => all,
    names: () => names,
    visibleTo: seenBy,
    get defaultAgent() {
      return first;
    },
    get modifiedAt() {
      return modifiedAt;
    },
    replace(newAgents, newFallback) {
      all = newAgents;
      byName = byNameAndId(newAgents);
      names = new Set(newAgents.map(agent => agent.name));
      first = newFallback;
      // Also with the clock set back: callers with the older date must not be told that nothing changed.
      modifiedAt = Math.max(wallTime(), modifiedAt + 1_000);
    },
  };
  return catalog;
}

const maySee = ({ tenant, agents }: Scope, { name, policy }: Agent): boolean =>
  (!agents || agents.has(name)) && (!policy.tenants || policy.tenants.includes(tenant));

/** A name wins over an id: nobody can hide an agent by giving another one its id for a name. */
const byNameAndId = (agents: readonly Agent[]): ReadonlyMap<AgentName, Agent> =>
  new Map([
    ...agents.map(agent => [toUuid(agent.name) as AgentName, agent] as const),
    ...agents.map(agent => [agent.name, agent] as const),
  ]);

/** RFC 9562 Appendix A.4 has this namespace; LangGraph's Agent Server names its assistants in it, too. */
const NAMESPACE = Buffer.from("6ba7b8219dad11d180b400c04fd430c8", "hex");

/** The UUID (version 5) that follows from a name, so that it is the same after every start. */
export function toUuid(name: string): string {
  const hash = createHash("sha1").update(NAMESPACE).update(name).digest().subarray(0, 16);
  hash[6] = ((hash[6] as number) & 0x0f) | 0x50;
  hash[8] = ((hash[8] as number) & 0x3f) | 0x80;
  return hash.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
