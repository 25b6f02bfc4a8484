import pg from "pg";
import { StartupError } from "../../lib/startup-error.ts";
import { Fault } from "../../model/index.ts";
import type { Log } from "../../ports/index.ts";
import { isDeadlock, isStatementLost, sqlStateOf, toFault } from "./database-error.ts";
import { KeptConnection } from "./kept-connection.ts";

/** A statement whose plan a connection keeps, if it is opened for that. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs statements, inside a transaction or outside. */
export interface Queryable {
  query<T extends object = Readonly<Record<string, unknown>>>(
    sql: string | Statement,
    values?: readonly unknown[],
  ): Promise<readonly T[]>;
}
export interface Database extends Queryable {
  /** A pooler such as PgBouncer is in between: session state does not belong to this client. */
  readonly isPooled: boolean;
  /** Commits all of it or nothing. `work` is repeated after a deadlock: it must do nothing but query. */
  transact<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A connection, or a pool of them. */
interface Connection {
  query(statement: pg.QueryConfig, values: unknown[]): Promise<pg.QueryResult>;
}

export interface DatabaseParts {
  readonly url: string;
  readonly durability: "power" | "process";
  readonly connectionsMax: number;
  readonly statementMs: number;
  /**
   * Keeps one connection, and the plans of its named statements. A plan that was made for a small table stays when the table has grown, so only
   * plans that use an index are made. Not with a pooler: the statements belong to its connections.
   */
  readonly keepsPlans?: boolean;
  readonly log: Log;
}

const INT8 = 20;
const INT8_ARRAY = 1016;

/** Our integers fit a double: keys, revisions and times are far below 2^53. */
const types = {
  getTypeParser: ((oid: number, format?: "text" | "binary") => {
    if (oid === INT8) return Number;
    if (oid === INT8_ARRAY) return (text: string) => text.slice(1, -1).split(",").map(Number);
    return pg.types.getTypeParser(oid, format as "text");
  }) as typeof pg.types.getTypeParser,
};

/** A list of one row would be planned anew each time: the planner expects more of them. */
const KEPT_PLANS = [
  "plan_cache_mode=force_generic_plan",
  "enable_seqscan=off",
  "enable_hashjoin=off",
  "enable_mergejoin=off",
];

/** Startup parameters of a connection; a pooler accepts none of them. */
const sessionSettings = ({ statementMs, durability, keepsPlans }: DatabaseParts): pg.ClientConfig => ({
  statement_timeout: statementMs,
  idle_in_transaction_session_timeout: statementMs,
  options: [
    ...(durability === "process" ? ["synchronous_commit=off"] : []),
    ...(keepsPlans ? KEPT_PLANS : []),
  ]
    .map(setting => `-c ${setting}`)
    .join(" "),
});

/** The same settings for one transaction. */
const transactionSettings = ({ statementMs, durability }: DatabaseParts): string =>
  `SET LOCAL statement_timeout = ${statementMs}${durability === "process" ? "; SET LOCAL synchronous_commit = off" : ""}`;

/** Added to the statement timeout of the server: after that, the server or the network is gone without an answer. */
const CLIENT_TIMEOUT_EXTRA_MS = 1_000;
/** TCP keep-alive probes begin after this idle time. */
const KEEP_ALIVE_MS = 10_000;

const toClientConfig = (parts: DatabaseParts): pg.ClientConfig => ({
  connectionString: parts.url,
  types,
  query_timeout: parts.statementMs + CLIENT_TIMEOUT_EXTRA_MS,
  connectionTimeoutMillis: parts.statementMs,
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  application_name: "dragoman",
});

const TRIES_MAX = 5;

/** Rejects if the database cannot be reached. */
export async function openDatabase(parts: DatabaseParts): Promise<Database> {
  const isPooled = await detectPooler(parts);
  const pool = new pg.Pool({
    ...toClientConfig(parts),
    max: parts.connectionsMax,
    ...(!isPooled && { ...sessionSettings(parts), pipeline: parts.keepsPlans === true }),
  });
  // Without a listener, an idle connection that breaks would end the process.
  pool.on("error", error =>
    parts.log.warn({ err: error }, "an idle Postgres connection broke; reconnecting"),
  );
  const begin = isPooled ? `BEGIN; ${transactionSettings(parts)}` : "BEGIN";
  let isNamed = parts.keepsPlans === true && !isPooled;
  const kept = parts.keepsPlans ? new KeptConnection(pool) : undefined;
  const direct = toQueryable(kept ?? pool, () => isNamed);

  async function runTransaction<T>(client: pg.PoolClient, work: (tx: Queryable) => Promise<T>): Promise<T> {
    let broken: Error | undefined;
    // Without a listener, a checked-out connection that breaks would end the process; the next query reports it.
    const onError = (error: Error): void => void (broken = error);
    client.on("error", onError);
    try {
      await client.query(begin);
      const result = await work(toQueryable(client, () => isNamed));
      await client.query("COMMIT");
      return result;
    } catch (error) {
      if (sqlStateOf(error) === undefined && !(error instanceof Fault)) broken ??= error as Error;
      if (!broken) await client.query("ROLLBACK").catch(failed => void (broken = failed as Error));
      throw error;
    } finally {
      client.off("error", onError);
      if (!kept) client.release(broken);
      else if (broken) kept.drop(client, broken);
    }
  }
  const tryTransaction = async <T>(work: (tx: Queryable) => Promise<T>): Promise<T> =>
    kept ? kept.useAlone(client => runTransaction(client, work)) : runTransaction(await pool.connect(), work);

  return {
    isPooled,
    query: (sql, values) =>
      direct.query<never>(sql, values).catch(error => {
        if (!isStatementLost(error)) throw toFault(error);
        isNamed = false;
        return direct.query<never>(sql, values);
      }),
    async transact(work) {
      for (let tries = 1; ; tries++) {
        try {
          return await tryTransaction(work);
        } catch (error) {
          if (isStatementLost(error)) isNamed = false;
          else if (!isDeadlock(error) || tries >= TRIES_MAX) throw toFault(error);
        }
      }
    },
    close() {
      kept?.close();
      return pool.end();
    },
  };
}

/**
 * Uses a first connection to find out: a pooler refuses startup parameters that it would have to remember for each client,
 * or names another backend process in the handshake than the one that answers queries.
 */
async function detectPooler(parts: DatabaseParts): Promise<boolean> {
  const client = new pg.Client({ ...toClientConfig(parts), ...sessionSettings(parts) });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    return rows[0]?.pid !== (client as pg.Client & { readonly processID?: number }).processID;
  } catch (error) {
    if (/startup parameter/.test((error as Error).message)) return true;
    throw toFault(error);
  } finally {
    client.end().catch(() => {});
  }
}

const toQueryable = (client: Connection, isNamed: () => boolean): Queryable => ({
  async query(sql, values = []) {
    const statement = typeof sql === "string" || isNamed() ? sql : sql.text;
    const { rows } = await client.query(statement as pg.QueryConfig, values as unknown[]);
    return rows as never[];
  },
});

/** Opens the database for a command or a migration. Errors of the database become messages for operators. */
export async function withDatabase<T>(parts: DatabaseParts, work: (db: Database) => Promise<T>): Promise<T> {
  let db: Database | undefined;
  try {
    db = await openDatabase(parts);
    return await work(db);
  } catch (error) {
    throw explainDatabaseError(error);
  } finally {
    await db?.close();
  }
}

/** By SQLSTATE. */
const REASONS: Readonly<Record<string, string>> = {
  "28P01": "the password is wrong",
  "28000": "this user is not allowed to connect",
  "3D000": "the database does not exist; create it first",
  "42501": "this user is not allowed to create tables; grant it CREATE on the schema",
  "42P01": "the database has no Dragoman tables",
};

/** For errors of the database, a message that tells operators what to check; other errors stay as they are. */
function explainDatabaseError(error: unknown): unknown {
  const state = sqlStateOf(error);
  const isDatabaseError = state !== undefined || (error instanceof Fault && error.code === "unavailable");
  if (!isDatabaseError) return error;
  const reason = REASONS[state ?? ""] ?? messageOf(error);
  return new StartupError(`The Postgres store cannot be opened: ${reason}. Check the URL given with --data.`);
}

function messageOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const inner = cause instanceof Error ? cause : error;
  return inner instanceof Error
    ? inner.message || (inner as NodeJS.ErrnoException).code || "no response"
    : "no response";
}
