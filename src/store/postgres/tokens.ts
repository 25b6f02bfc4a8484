import { LIMITS, type Permission, tooManyTokens } from "../../model/index.ts";
import type { AccessToken, Log, TokenStore } from "../../ports/index.ts";
import type { TokenRow } from "../kernel/moved-rows.ts";
import { type Database, openDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";

export interface TokenBookParts {
  readonly url: string;
  readonly now: () => number;
  readonly log: Log;
}

const CONNECTIONS_MAX = 2;
/** The lock under which tokens are changed. */
const CHANGE_LOCK = 0x4452474f;

/** Tokens that all nodes share. */
export async function createPostgresTokenBook(parts: TokenBookParts): Promise<TokenStore> {
  const { now, log } = parts;
  await migrate(parts);
  const db = await openDatabase({
    ...parts,
    durability: "power",
    connectionsMax: CONNECTIONS_MAX,
    statementMs: LIMITS.statementMs,
  });
  /** When tokens were last used, as far as it is not written down. */
  const uses = new Map<string, number>();
  let flushing: NodeJS.Timeout | undefined;
  let revision = await newestIn(db);
  let looking = Promise.resolve();

  async function look(): Promise<void> {
    try {
      revision = Math.max(revision, await newestIn(db));
    } catch (error) {
      log.warn({ err: error }, "whether tokens have changed cannot be asked now");
    }
  }
  // Also while nobody calls: the first one who does must not get in with what was revoked before.
  const timer = setInterval(() => void (looking = look()), LIMITS.tokenPollMs).unref();

  /** One after another: numbers are drawn before the commit, and a smaller one that came later would not be seen. */
  const change = async (sql: string, values: readonly unknown[]): Promise<void> => {
    await db.transact(async on => {
      await on.query("SELECT pg_advisory_xact_lock($1)", [CHANGE_LOCK]);
      await on.query(sql, values);
    });
    await look();
  };

  async function flush(): Promise<void> {
    clearTimeout(flushing);
    flushing = undefined;
    const [ids, times] = [[...uses.keys()], [...uses.values()]];
    if (ids.length === 0) return;
    const sql =
      "UPDATE token SET used = greatest(used, u.at) FROM unnest($1::text[], $2::bigint[]) AS u(id, at) WHERE token.id = u.id";
    await db.query(sql, [ids, times]).then(
      () => uses.clear(),
      // It is tried again after the next use.
      error => log.debug({ err: error }, "when tokens were used could not be written down"),
    );
  }

  const read = async (where: string, values: readonly unknown[]): Promise<readonly AccessToken[]> =>
    (await db.query<TokenRow>(`SELECT * FROM token ${where}`, values)).map(row => toToken(row, uses));

  return {
    find: async hash => (await read("WHERE hash = $1", [hash]))[0] ?? null,
    list: () => read("ORDER BY created DESC, id", []),
    async create(token) {
      await db.query("DELETE FROM token WHERE coalesce(revoked, expires) < $1", [now() - LIMITS.tokenKeptMs]);
      const [found] = await db.query<{ count: number }>("SELECT count(*) AS count FROM token");
      if ((found?.count ?? 0) >= LIMITS.tokensMax) throw tooManyTokens();
      const lists = [token.tenants, token.grants, token.agents].map(list =>
        list ? JSON.stringify(list) : null,
      );
      await change(
        "INSERT INTO token (id, hash, name, principal, tenants, grants, agents, created, expires) " +
          "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        [
          token.id,
          token.hash,
          token.name ?? null,
          token.principal,
          ...lists,
          token.createdAt,
          token.expiresAt ?? null,
        ],
      );
    },
    async revoke(name, at) {
      const sql =
        "UPDATE token SET revoked = $2, change = nextval('token_change') WHERE (id = $1 OR hash = $1) AND revoked IS NULL";
      await change(sql, [name, at]);
      return (await read("WHERE id = $1 OR hash = $1", [name]))[0] ?? null;
    },
    revision: () => revision,
    recordUse(id, at) {
      uses.set(id, at);
      flushing ??= setTimeout(() => void flush(), LIMITS.tokenUsedMs).unref();
    },
    async close() {
      clearInterval(timer);
      await looking;
      await flush();
      await db.close();
    },
  };
}

async function newestIn(db: Database): Promise<number> {
  const [row] = await db.query<{ change: number | null }>("SELECT max(change) AS change FROM token");
  return row?.change ?? 0;
}

const toToken = (row: TokenRow, uses: ReadonlyMap<string, number>): AccessToken => ({
  principal: row.principal,
  tenants: JSON.parse(row.tenants) as string[],
  grants: JSON.parse(row.grants) as Permission[],
  agents: row.agents === null ? undefined : (JSON.parse(row.agents) as string[]),
  id: row.id,
  name: row.name ?? undefined,
  createdAt: row.created,
  expiresAt: row.expires ?? undefined,
  revokedAt: row.revoked ?? undefined,
  usedAt: uses.get(row.id) ?? row.used ?? undefined,
});
