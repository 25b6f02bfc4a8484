import type { Json } from "../../lib/json.ts";
import type { StorageArea } from "../../ports/index.ts";
import type { Journal, Put } from "../single-node/backend.ts";

/** What was put away, in memory. */
export function createShelves() {
  const shelves = new Map<string, Map<string, Json>>();
  const keyOf = ({ scope, agent, area: shelf }: StorageArea): string =>
    JSON.stringify([scope.tenant, scope.principal, agent, shelf]);

  const list: Journal["shelved"] = (place, { prefix, beyond, backwards = false, max }) => {
    const entries = [...(shelves.get(keyOf(place)) ?? [])]
      .filter(([key]) => key.startsWith(prefix))
      .filter(([key]) => beyond === undefined || (backwards ? key < beyond : key > beyond))
      .sort(([a], [b]) => (a < b !== backwards ? -1 : 1));
    return entries.slice(0, max).map(([key, value]) => ({ key, value: structuredClone(value) }));
  };

  return {
    list,
    put({ place, changes }: Put): void {
      const at = keyOf(place);
      const shelf = shelves.get(at) ?? new Map<string, Json>();
      shelves.set(at, shelf);
      for (const { key, text } of changes)
        if (text === undefined) shelf.delete(key);
        else shelf.set(key, JSON.parse(text) as Json);
    },
    clear: (place: StorageArea): void => void shelves.delete(keyOf(place)),
  };
}
