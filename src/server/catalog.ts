import { createHash } from "node:crypto";
import type { AgentName, Scope } from "../model/index.ts";
import type { Agent, Catalog, VisibleAgents } from "../ports/index.ts";

/** The agents that are served; they may change while the server runs. */
export interface LiveCatalog extends Catalog {
  readonly defaultAgent: AgentName;
  readonly modifiedAt: number;
  replace(agents: readonly Agent[], defaultAgent: AgentName): void;
}

export function createCatalog(
  agents: readonly Agent[],
  defaultAgent: AgentName,
  wallTime: () => number,
): LiveCatalog {
  let all = agents;
  let byName = byNameAndId(agents);
  let names = new Set(agents.map(agent => agent.name));
  let defaultName = defaultAgent;
  let modifiedAt = wallTime();

  function visibleTo(scope: Scope): VisibleAgents {
    const isVisible = (agent: Agent): boolean => canSee(scope, agent);
    if (all.every(isVisible)) return catalog;
    const visible = all.filter(isVisible);
    const visibleDefault = (visible.find(agent => agent.name === defaultName) ?? visible[0])?.name;
    return {
      find(name) {
        const agent = byName.get(name ?? visibleDefault ?? defaultName);
        return agent && isVisible(agent) ? agent : undefined;
      },
      all: () => visible,
      defaultAgent: visibleDefault,
    };
  }

  const catalog: LiveCatalog = {
    find: name => byName.get(name ?? defaultName),
    all: () => all,
    names: () => names,
    visibleTo,
    get defaultAgent() {
      return defaultName;
    },
    get modifiedAt() {
      return modifiedAt;
    },
    replace(newAgents, newDefault) {
      all = newAgents;
      byName = byNameAndId(newAgents);
      names = new Set(newAgents.map(agent => agent.name));
      defaultName = newDefault;
      // Later than before even if the clock was set back: a conditional request with the older date must get the new card.
      modifiedAt = Math.max(wallTime(), modifiedAt + 1_000);
    },
  };
  return catalog;
}

/** An internal agent is not named in tokens: it belongs to the agents that call it. */
function canSee({ tenant, agents, fromAgent }: Scope, { name, policy }: Agent): boolean {
  if (policy.tenants && !policy.tenants.includes(tenant)) return false;
  return policy.access === "internal" ? fromAgent === true : !agents || agents.has(name);
}

/** Agents of single tenants are not public, and internal ones have no callers. */
export const isForAllCallers = ({ policy }: Agent): boolean =>
  !policy.tenants && policy.access !== "internal";

/** A name wins over an id: an agent whose name is the id of another one does not hide it. */
const byNameAndId = (agents: readonly Agent[]): ReadonlyMap<AgentName, Agent> =>
  new Map([
    ...agents.map(agent => [toUuid(agent.name) as AgentName, agent] as const),
    ...agents.map(agent => [agent.name, agent] as const),
  ]);

/** A namespace of RFC 9562, Appendix A.4, that LangGraph Agent Server uses for its assistants, too. */
const NAMESPACE = Buffer.from("6ba7b8219dad11d180b400c04fd430c8", "hex");

/** The UUID (version 5) that follows from a name, so that it is the same after every start. */
export function toUuid(name: string): string {
  const hash = createHash("sha1").update(NAMESPACE).update(name).digest().subarray(0, 16);
  hash[6] = ((hash[6] as number) & 0x0f) | 0x50;
  hash[8] = ((hash[8] as number) & 0x3f) | 0x80;
  return hash.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
