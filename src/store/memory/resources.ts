import { type ResourceRow, TIME_COLUMNS } from "../kernel/resource-row.ts";
import type { ResourceBackend } from "../single-node/backend.ts";

/** Records of callers, in memory. */
export function createMemoryResources(): ResourceBackend {
  const rows = new Map<string, ResourceRow>();

  return {
    find: ({ tenant, principal }, kind, id) =>
      rows.get(JSON.stringify([tenant, principal, kind, id])) ?? null,
    list({ tenant, principal }, kind, { by, backwards, beyond, max }) {
      const column = TIME_COLUMNS[by];
      const order = backwards ? -1 : 1;
      const compare = (a: { at: number; id: string }, b: { at: number; id: string }): number =>
        order * (a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
      const placeOf = (row: ResourceRow) => ({ at: row[column], id: row.id });
      return [...rows.values()]
        .filter(row => row.tenant === tenant && row.principal === principal && row.kind === kind)
        .filter(row => beyond === undefined || compare(placeOf(row), beyond) > 0)
        .sort((a, b) => compare(placeOf(a), placeOf(b)))
        .slice(0, max);
    },
    expired: (kind, at, max) =>
      [...rows.values()]
        .filter(row => row.kind === kind && row.expires_at !== null && row.expires_at <= at)
        .sort((a, b) => (a.expires_at as number) - (b.expires_at as number))
        .slice(0, max),
    write(key, row) {
      if (row) rows.set(JSON.stringify(key), row);
      else rows.delete(JSON.stringify(key));
    },
  };
}
