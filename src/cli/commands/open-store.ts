/** What a server keeps, for commands that look at it: in a folder, or in a database. */

import { loadOptionalPackage } from "../../lib/optional-package.ts";
import type { Log, TokenStore, UsageQuery, UsageRow } from "../../ports/index.ts";
import type { TaskHistory } from "../../store/sqlite/index.ts";

export const isDatabase = (place: string): boolean => /^postgres(?:ql)?:\/\//.test(place);

/** Where it is, for everybody to see. */
export function toShown(place: string): string {
  if (!isDatabase(place)) return place;
  const url = new URL(place);
  url.password = "";
  return url.href;
}

export const loadPostgres = () =>
  loadOptionalPackage("pg", "A store in Postgres", () => import("../../store/postgres/index.ts"));

/** What goes wrong is told by the command. */
export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Where the server keeps its tokens: beside its tasks. */
export async function openTokens(place: string, now: () => number): Promise<TokenStore> {
  if (isDatabase(place)) {
    const { createPostgresTokenStore } = await loadPostgres();
    return createPostgresTokenStore({ url: place, now, log: SILENT });
  }
  const { createSqliteTokenStore } = await import("../../store/sqlite/index.ts");
  return createSqliteTokenStore({ folder: place, now });
}

/** All that is kept of one task; null: there is none. */
export async function readStory(place: string, task: string): Promise<TaskHistory | null> {
  if (isDatabase(place)) return (await loadPostgres()).readPostgresHistory({ url: place, log: SILENT }, task);
  const sqlite = await import("../../store/sqlite/index.ts");
  return sqlite.readTaskHistory(place, task);
}

export async function readUsage(place: string, query: UsageQuery): Promise<readonly UsageRow[]> {
  if (isDatabase(place)) return (await loadPostgres()).readPostgresUsage({ url: place, log: SILENT }, query);
  const sqlite = await import("../../store/sqlite/index.ts");
  return sqlite.readStoreUsage(place, query);
}
