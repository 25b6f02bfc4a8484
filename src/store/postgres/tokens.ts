import { LIMITS, type Permission, tooManyTokens } from "../../model/index.ts";
import type { AccessToken, Log, TokenStore } from "../../ports/index.ts";
import type { TokenRow } from "../kernel/store-export.ts";
import { type Database, openDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";

export interface PostgresTokenStoreParts {
  readonly url: string;
  readonly now: () => number;
  readonly log: Log;
}

const CONNECTIONS_MAX = 2;
/** The advisory lock under which tokens are changed. */
const CHANGE_LOCK = 0x4452474f;

/** Tokens that all nodes share. */
export async function createPostgresTokenStore(parts: PostgresTokenStoreParts): Promise<TokenStore> {
  const { now, log } = parts;
  await migrate(parts);
  const db = await openDatabase({
    ...parts,
    durability: "power",
    connectionsMax: CONNECTIONS_MAX,
    statementMs: LIMITS.statementMs,
  });
  /** The last use of tokens, until it is written. */
  const uses = new Map<string, number>();
  let flushing: NodeJS.Timeout | undefined;
  let revision = await readNewestChange(db);
  let polling = Promise.resolve();

  async function poll(): Promise<void> {
    try {
      revision = Math.max(revision, await readNewestChange(db));
    } catch (error) {
      log.warn({ err: error }, "checking for changed tokens failed");
    }
  }
  // Also without calls: the first call must not be authenticated with a token that was revoked before.
  const timer = setInterval(() => void (polling = poll()), LIMITS.tokenPollMs).unref();

  /** Changes are serialized: numbers are drawn before the commit, and a lower number committed later would not be noticed. */
  const change = async (sql: string, values: readonly unknown[]): Promise<void> => {
    await db.transact(async tx => {
      await tx.query("SELECT pg_advisory_xact_lock($1)", [CHANGE_LOCK]);
      await tx.query(sql, values);
    });
    await poll();
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
      // Retried after the next use.
      error => log.debug({ err: error }, "recording the last use of tokens failed"),
    );
  }

  const read = async (where: string, values: readonly unknown[]): Promise<readonly AccessToken[]> =>
    (await db.query<TokenRow>(`SELECT * FROM token ${where}`, values)).map(row => toToken(row, uses));

  return {
    find: async hash => (await read("WHERE hash = $1", [hash]))[0] ?? null,
    list: () => read("ORDER BY created DESC, id", []),
    async create(token) {
      await db.query("DELETE FROM token WHERE coalesce(revoked, expires) < $1", [
        now() - LIMITS.expiredTokenMs,
      ]);
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
      await polling;
      await flush();
      await db.close();
    },
  };
}

async function readNewestChange(db: Database): Promise<number> {
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
