import pg from "pg";
import type { Json } from "../../lib/json.ts";
import { Fault } from "../../model/index.ts";
import type { Log } from "../../ports/index.ts";

/** Something that whoever starts the server can put right; the message says how. */
export class PostgresRefusal extends Error {
  override readonly name = "PostgresRefusal";
}

export type Row = Readonly<Record<string, unknown>>;
export type Value = Json | bigint | undefined | readonly unknown[];

/** Asks a database, in a transaction or out of one. */
export interface Asker {
  query<T extends object = Row>(sql: string, values?: readonly unknown[]): Promise<readonly T[]>;
}
export interface Database extends Asker {
  /** A pooler such as PgBouncer stands before it: a session is not our own. */
  readonly pooled: boolean;
  /** All of it or nothing. The work may be done more than once: it must do nothing but ask. */
  transact<T>(work: (on: Asker) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface DatabaseParts {
  readonly url: string;
  readonly durability: "power" | "process";
  readonly connectionsMax: number;
  readonly statementMs: number;
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

/** What the database is told with every new connection; a pooler takes none of it. */
const sessionOf = ({ statementMs, durability }: DatabaseParts): pg.ClientConfig => ({
  statement_timeout: statementMs,
  idle_in_transaction_session_timeout: statementMs,
  ...(durability === "process" && { options: "-c synchronous_commit=off" }),
});

/** After a database should have given up: it, or the way to it, is gone without a word. */
const PATIENCE_MS = 1_000;
/** When a connection has been silent for so long, the other side is asked whether it is still there. */
const KEEP_ALIVE_MS = 10_000;

const clientOf = (parts: DatabaseParts): pg.ClientConfig => ({
  connectionString: parts.url,
  types,
  query_timeout: parts.statementMs + PATIENCE_MS,
  connectionTimeoutMillis: parts.statementMs,
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  application_name: "dragoman",
});

/** Rejects if it cannot be reached. */
export async function openDatabase(parts: DatabaseParts): Promise<Database> {
  const pooled = await isPooled(parts);
  const pool = new pg.Pool({
    ...clientOf(parts),
    max: parts.connectionsMax,
    ...(!pooled && sessionOf(parts)),
  });
  // A connection that breaks while nobody uses it must not end the process.
  pool.on("error", error =>
    parts.log.warn({ err: error }, "a connection to Postgres broke; another is made"),
  );
  const begin = pooled ? `BEGIN; ${localSettings(parts)}` : "BEGIN";

  async function attempt<T>(work: (on: Asker) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let broken: Error | undefined;
    // Also one that breaks in our hands: whoever asks it next is told.
    const hear = (error: Error): void => void (broken = error);
    client.on("error", hear);
    try {
      await client.query(begin);
      const result = await work(ask(client));
      await client.query("COMMIT");
      return result;
    } catch (error) {
      if (stateOf(error) === undefined && !(error instanceof Fault)) broken ??= error as Error;
      if (!broken) await client.query("ROLLBACK").catch(failed => void (broken = failed as Error));
      throw error;
    } finally {
      client.off("error", hear);
      client.release(broken);
    }
  }

  return {
    ...asFaults(ask(pool)),
    pooled,
    async transact(work) {
      for (let tries = 1; ; tries++) {
        try {
          return await attempt(work);
        } catch (error) {
          if (!isEntangled(error) || tries >= TRIES_MAX) throw asFault(error);
        }
      }
    },
    close: () => pool.end(),
  };
}

const TRIES_MAX = 5;

/**
 * The first connection shows what is at the other end: a pooler refuses what it would have to remember for each client,
 * or else gives another process to talk to than it names.
 */
async function isPooled(parts: DatabaseParts): Promise<boolean> {
  const client = new pg.Client({ ...clientOf(parts), ...sessionOf(parts) });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    return rows[0]?.pid !== (client as pg.Client & { readonly processID?: number }).processID;
  } catch (error) {
    if (/startup parameter/.test((error as Error).message)) return true;
    throw asFault(error);
  } finally {
    client.end().catch(() => {});
  }
}

/** The same for one transaction. */
const localSettings = ({ statementMs, durability }: DatabaseParts): string =>
  `SET LOCAL statement_timeout = ${statementMs}${durability === "process" ? "; SET LOCAL synchronous_commit = off" : ""}`;

const ask = (on: pg.Pool | pg.PoolClient): Asker => ({
  query: async (sql, values = []) => (await on.query(sql, values as unknown[])).rows,
});

const asFaults = (asker: Asker): Asker => ({
  query: (sql, values) =>
    asker.query<never>(sql, values).catch(error => {
      throw asFault(error);
    }),
});

/** The database cannot be asked now: callers may try again, and the cause is logged. */
function asFault(error: unknown): unknown {
  const state = stateOf(error);
  if (error instanceof Fault || (state !== undefined && !PASSING.test(state))) return error;
  return new Fault("unavailable", "The store cannot be reached now; try again soon", {}, error);
}

/**
 * Broken connections (08), a server that may only be read (25006), others in the way (40, 55P03), no room (53), a server
 * that stops or a question that took too long (57), a disk that fails (58).
 */
const PASSING = /^(?:08|25006|40|53|55P03|57|58)/;
/** Of these, what concerns one question and not the server. */
const OF_ONE = /^(?:40|55P03|57014)/;

/** The five characters by which Postgres tells what went wrong; undefined: it was not Postgres who said so. */
export function stateOf(error: unknown): string | undefined {
  const code = ((error instanceof Fault ? error.cause : error) as { readonly code?: unknown } | undefined)
    ?.code;
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Two transactions waited for each other, and this one had to go. */
const isEntangled = (error: unknown): boolean => stateOf(error)?.startsWith("40") ?? false;

/** The database is not there: whatever else one asks, it goes no better. */
export function isDown(error: unknown): boolean {
  const state = stateOf(error);
  return state === undefined || (PASSING.test(state) && !OF_ONE.test(state));
}
