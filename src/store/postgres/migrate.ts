import { StartupError } from "../../lib/startup-error.ts";
import { type DatabaseParts, type Queryable, withDatabase } from "./database.ts";
import { NODE_TIMEOUT_MS } from "./heartbeat.ts";
import { MIGRATIONS, type Migration } from "./sql/index.ts";

/** The advisory lock under which one node migrates while the others wait. */
const MIGRATION_LOCK = 0x4452474d;

/** A migration may take long, and so may the wait for another node that migrates. */
const MIGRATION_TIMEOUT_MS = 60 * 60_000;

export interface MigrateParts extends Omit<DatabaseParts, "durability" | "connectionsMax" | "statementMs"> {
  readonly migrations?: readonly Migration[];
}

/** Applies pending migrations under a lock, so that many nodes may start at the same time. */
export async function migrate({ migrations = MIGRATIONS, ...parts }: MigrateParts): Promise<void> {
  const database: DatabaseParts = {
    ...parts,
    durability: "power",
    connectionsMax: 1,
    statementMs: MIGRATION_TIMEOUT_MS,
  };
  await withDatabase(database, db =>
    db.transact(async tx => {
      await tx.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
      await applyPending(tx, migrations);
      await resetForeignTransactionIds(tx);
    }),
  );
}

async function applyPending(tx: Queryable, migrations: readonly Migration[]): Promise<void> {
  const known = migrations.length;
  const [found] = await tx.query<{ here: boolean }>(
    "SELECT to_regclass('dragoman_schema') IS NOT NULL AS here",
  );
  // Not IF NOT EXISTS: a server may run without the privilege to create tables once they exist.
  if (!found?.here)
    await tx.query("CREATE TABLE dragoman_schema (version integer NOT NULL, oldest integer NOT NULL)");
  const [row] = await tx.query<{ version: number | null; oldest: number | null }>(
    "SELECT max(version) AS version, max(oldest) AS oldest FROM dragoman_schema",
  );
  const version = row?.version ?? 0;
  if ((row?.oldest ?? 0) > known)
    throw new StartupError(
      `The database was written by a newer Dragoman (schema ${version}; this one knows up to ${known}, and is not ` +
        "compatible with it). Start a Dragoman at least as new, or name another database with --data.",
    );
  const pending = migrations.slice(version);
  if (pending.length === 0) return;
  const oldest = Math.max(...pending.map(migration => migration.oldest));
  if (version >= FIRST_WITH_NODES) await refuseOlderNodes(tx, oldest);
  for (const { sql } of pending) await tx.query(sql);
  await tx.query("INSERT INTO dragoman_schema (version, oldest) VALUES ($1, $2)", [known, oldest]);
}

/** The first schema with the table `node`. */
const FIRST_WITH_NODES = 4;

/** A migration that running servers are not compatible with must wait until they have stopped. */
async function refuseOlderNodes(tx: Queryable, oldest: number): Promise<void> {
  const [row] = await tx.query<{ count: number }>(
    "SELECT count(*) AS count FROM node WHERE schema < $1 AND seen > clock_timestamp() - $2 * interval '1 ms'",
    [oldest, NODE_TIMEOUT_MS],
  );
  if (row && row.count > 0)
    throw new StartupError(
      `Servers of an older Dragoman are still running on this database (${row.count}), and are not compatible with the ` +
        "schema of this one. Stop them first, or upgrade one release at a time.",
    );
}

/**
 * A database that was restored from a dump holds transaction ids of the old server. As long as the counter of this server
 * is below them, they look like future transactions, and lists would omit their tasks.
 */
async function resetForeignTransactionIds(tx: Queryable): Promise<void> {
  const found = await tx.query(
    "SELECT 1 FROM (SELECT xid FROM task ORDER BY key DESC LIMIT 1000) AS newest WHERE xid > pg_current_xact_id() LIMIT 1",
  );
  if (found.length === 0) return;
  for (const table of ["task", "segment"])
    await tx.query(`UPDATE ${table} SET xid = '3' WHERE xid > pg_current_xact_id()`);
}
