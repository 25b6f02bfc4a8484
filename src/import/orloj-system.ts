/** The graph of an AgentSystem as a sequence of agents, where it is one. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";

/** The agents in their order, or why there is none. */
export type Order = { readonly steps: readonly string[] } | { readonly reason: string };

export function findOrder(agents: readonly string[], graph: JsonObject): Order {
  const next = new Map<string, string>();
  for (const [name, node] of Object.entries(graph)) {
    const target = findTarget(node);
    if (target === undefined) continue;
    if (target === null) return { reason: `the node ${name} does more than pass its answer on to one agent` };
    next.set(name, target);
  }
  const all = new Set([...agents, ...next.keys(), ...next.values()]);
  const targets = new Set(next.values());
  const [first, ...others] = [...all].filter(name => !targets.has(name));
  // A sequence has one edge less than agents; an edge more leads back.
  if (first === undefined || others.length > 0 || next.size !== all.size - 1) return { reason: NO_SEQUENCE };
  const steps = [first];
  for (let name = next.get(first); name !== undefined && steps.length < all.size; name = next.get(name))
    steps.push(name);
  return new Set(steps).size === all.size ? { steps } : { reason: NO_SEQUENCE };
}

const NO_SEQUENCE = "its graph is not a sequence of agents";

/** undefined: the node is the last one; null: it has conditions, several edges, a join or delegates. */
function findTarget(node: Json): string | null | undefined {
  if (!isObject(node)) return null;
  const { next, edges = [], ...others } = node;
  if (Object.keys(others).length > 0 || !Array.isArray(edges) || edges.length > 1) return null;
  const [edge] = edges as readonly Json[];
  if (edge === undefined) return typeof next === "string" || next === undefined ? next : null;
  if (!isObject(edge) || typeof edge.to !== "string" || Object.keys(edge).length > 1) return null;
  return next === undefined || next === edge.to ? edge.to : null;
}
