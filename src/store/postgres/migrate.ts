import { Fault } from "../../model/index.ts";
import {
  type Asker,
  type Database,
  type DatabaseParts,
  openDatabase,
  PostgresRefusal,
  stateOf,
} from "./database.ts";
import { NODE_MS_MAX } from "./presence.ts";
import { MIGRATIONS, type Migration } from "./sql/index.ts";

/** Whoever holds this brings the tables up to date; the others wait. */
const LOCK = 0x4452474d;

/** A change of tables may take long, and so may the wait for another node that makes it. */
const PATIENCE_MS = 60 * 60_000;

export interface MigrateParts extends Omit<DatabaseParts, "durability" | "connectionsMax" | "statementMs"> {
  readonly migrations?: readonly Migration[];
}

/** Numbered migrations under a lock, so that many nodes may start at once. */
export async function migrate({ migrations = MIGRATIONS, ...parts }: MigrateParts): Promise<void> {
  let db: Database | undefined;
  try {
    db = await openDatabase({ ...parts, durability: "power", connectionsMax: 1, statementMs: PATIENCE_MS });
    await db.transact(async on => {
      await on.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
      await bringUp(on, migrations);
      await forgetForeignTransactions(on);
    });
  } catch (error) {
    throw explained(error);
  } finally {
    await db?.close();
  }
}

async function bringUp(on: Asker, migrations: readonly Migration[]): Promise<void> {
  const known = migrations.length;
  const [found] = await on.query<{ here: boolean }>(
    "SELECT to_regclass('dragoman_schema') IS NOT NULL AS here",
  );
  // Whoever starts a server need not be allowed to make tables that are there.
  if (!found?.here)
    await on.query("CREATE TABLE dragoman_schema (version integer NOT NULL, oldest integer NOT NULL)");
  const [row] = await on.query<{ version: number | null; oldest: number | null }>(
    "SELECT max(version) AS version, max(oldest) AS oldest FROM dragoman_schema",
  );
  const version = row?.version ?? 0;
  if ((row?.oldest ?? 0) > known) throw tooNew(version, known);
  const coming = migrations.slice(version);
  if (coming.length === 0) return;
  const oldest = Math.max(...coming.map(one => one.oldest));
  if (version >= FIRST_WITH_NODES) await refuseOlderNodes(on, oldest);
  for (const { sql } of coming) await on.query(sql);
  await on.query("INSERT INTO dragoman_schema (version, oldest) VALUES ($1, $2)", [known, oldest]);
}

const FIRST_WITH_NODES = 4;

/** What servers that run now could not work with must wait until they are gone. */
async function refuseOlderNodes(on: Asker, oldest: number): Promise<void> {
  const [row] = await on.query<{ count: number }>(
    "SELECT count(*) AS count FROM node WHERE schema < $1 AND seen > clock_timestamp() - $2 * interval '1 ms'",
    [oldest, NODE_MS_MAX],
  );
  if (row && row.count > 0)
    throw new PostgresRefusal(
      `${row.count} servers of an older Dragoman still work on this database, and cannot go on beside this one. ` +
        "Stop them first, or upgrade one release at a time.",
    );
}

/**
 * A database that was restored from a dump names transactions of the server where it was. As long as this one has not
 * counted so far, they would be taken for some that are still to come, and lists would leave out their tasks.
 */
async function forgetForeignTransactions(on: Asker): Promise<void> {
  const found = await on.query(
    "SELECT 1 FROM (SELECT xid FROM task ORDER BY key DESC LIMIT 1000) AS newest WHERE xid > pg_current_xact_id() LIMIT 1",
  );
  if (found.length === 0) return;
  for (const table of ["task", "segment"])
    await on.query(`UPDATE ${table} SET xid = '3' WHERE xid > pg_current_xact_id()`);
}

const tooNew = (version: number, known: number): PostgresRefusal =>
  new PostgresRefusal(
    `The database was written by a newer Dragoman (schema ${version}; this one knows up to ${known}, and cannot work beside it). ` +
      "Start a Dragoman at least as new, or name another database with --data.",
  );

const REASONS: Readonly<Record<string, string>> = {
  "28P01": "the password is wrong",
  "28000": "this user may not connect",
  "3D000": "there is no such database: create it first",
  "42501": "this user may not create tables there: grant it CREATE on the schema",
  "42P01": "no Dragoman has used this database yet",
};

/** What whoever starts a server, or looks at its database, can do about it. */
export function explained(error: unknown): unknown {
  const isOfDatabase =
    stateOf(error) !== undefined || (error instanceof Fault && error.code === "unavailable");
  if (!isOfDatabase) return error;
  const reason = REASONS[stateOf(error) ?? ""] ?? messageOf(error);
  return new PostgresRefusal(
    `The Postgres store cannot be opened: ${reason}. Check the URL given with --data.`,
  );
}

function messageOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const inner = cause instanceof Error ? cause : error;
  return inner instanceof Error
    ? inner.message || (inner as NodeJS.ErrnoException).code || "no answer"
    : "no answer";
}
