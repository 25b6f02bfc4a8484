/** Opens the administration of a store without starting a server; `--data` decides which store. */
import { loadOptionalPackage } from "../lib/optional-package.ts";
import { StartupError } from "../lib/startup-error.ts";
import type { JobObserver, Log, StoreAdmin } from "../ports/index.ts";
import type { ImportResult } from "../store/postgres/maintenance/import.ts";

export interface StoreAdminParts {
  /** As the option `data`: a folder, or the URL of a Postgres database. */
  readonly data: string;
  readonly now: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  readonly log?: Log;
}

const SILENT_LOG: Log = { debug() {}, info() {}, warn() {}, error() {} };

export async function openStoreAdmin({
  data,
  now,
  ticks,
  log = SILENT_LOG,
}: StoreAdminParts): Promise<StoreAdmin> {
  if (data === ":memory:")
    throw new StartupError(
      "A store with --data :memory: ends with its server. Set --data to a folder or a database URL.",
    );
  if (isPostgresUrl(data)) {
    const { createPostgresAdmin } = await loadPostgres(() => import("../store/postgres/admin.ts"));
    return createPostgresAdmin({ url: data, location: toLocation(data), now, log });
  }
  const { createSqliteAdmin } = await import("../store/sqlite/admin.ts");
  return createSqliteAdmin({ folder: data, now, ticks });
}

/** For messages: the folder, or the URL of the database without its password. */
export function toLocation(data: string): string {
  if (!isPostgresUrl(data)) return data;
  const url = new URL(data);
  url.password = "";
  return url.href;
}

export const isPostgresUrl = (data: string): boolean => /^postgres(?:ql)?:\/\//.test(data);

const loadPostgres = <T>(load: () => Promise<T>): Promise<T> =>
  loadOptionalPackage("pg", "A store in Postgres", load);

export interface MigrationParts extends JobObserver {
  readonly folder: string;
  readonly url: string;
  readonly log: Log;
}

/** Copies the store in a folder into a Postgres database; the folder is locked meanwhile and stays as it is. */
export async function migrateStore({ folder, url, ...parts }: MigrationParts): Promise<ImportResult> {
  if (isPostgresUrl(folder))
    throw new StartupError("A database cannot be migrated. Copy it with pg_dump and pg_restore.");
  if (!isPostgresUrl(url))
    throw new StartupError(
      `Not the URL of a Postgres database: ${url}. Use postgres://user:password@host/database.`,
    );
  const { openForExport } = await import("../store/sqlite/maintenance/export.ts");
  const { importStore } = await loadPostgres(() => import("../store/postgres/maintenance/import.ts"));
  const from = openForExport(folder);
  try {
    return await importStore({ ...parts, url, from });
  } finally {
    from.close();
  }
}
