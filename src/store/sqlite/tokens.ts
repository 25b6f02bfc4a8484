import type { DatabaseSync } from "node:sqlite";
import { type Identity, LIMITS, type Permission, tooManyTokens } from "../../model/index.ts";
import type { AccessToken, TokenStore } from "../../ports/index.ts";
import type { TokenRow } from "../kernel/moved-rows.ts";
import { inTransaction, openBook } from "./tokens-file.ts";

export interface TokenBookParts {
  readonly folder: string;
  readonly now: () => number;
}

/** Tokens in a file of their own beside the store: the store is one server's alone, this one is anybody's who may write there. */
export function createSqliteTokenBook({ folder, now }: TokenBookParts): TokenStore {
  const db = openBook(folder);
  const byHash = db.prepare("SELECT * FROM token WHERE hash = ?");
  const all = db.prepare("SELECT * FROM token ORDER BY created DESC, id");
  const version = db.prepare("PRAGMA data_version");
  const write = createWriters(db);
  /** When tokens were last used, as far as it is not written down. */
  const uses = new Map<string, number>();
  let flushing: NodeJS.Timeout | undefined;
  let seen = 0;
  let revision = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;

  function flush(): void {
    clearTimeout(flushing);
    flushing = undefined;
    try {
      write.used(uses);
      uses.clear();
    } catch {
      // The file is busy or the disk is full; it is tried again after the next use.
    }
  }

  return {
    find: hash => toToken(byHash.get(hash) as TokenRow | undefined, uses),
    list: async () => (all.all() as unknown as TokenRow[]).map(row => toToken(row, uses) as AccessToken),
    async create(token) {
      write.create(token, now());
      revision += 1;
    },
    async revoke(name, at) {
      write.revoke(name, at);
      revision += 1;
      return toToken(write.named(name), uses);
    },
    revision() {
      const at = now();
      if (at - lookedAt < LIMITS.tokenLookMs) return revision;
      lookedAt = at;
      const { data_version: found } = version.get() as { data_version: number };
      if (found !== seen) revision += 1;
      seen = found;
      return revision;
    },
    recordUse(id, at) {
      uses.set(id, at);
      flushing ??= setTimeout(flush, LIMITS.tokenUsedMs).unref();
    },
    async close() {
      flush();
      db.close();
    },
  };
}

function createWriters(db: DatabaseSync) {
  const insert = db.prepare(
    `INSERT INTO token (id, hash, name, principal, tenants, grants, agents, created, expires)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const forget = db.prepare("DELETE FROM token WHERE coalesce(revoked, expires) < ?");
  const count = db.prepare("SELECT count(*) AS count FROM token");
  const named = db.prepare("SELECT * FROM token WHERE id = $name OR hash = $name");
  const revoke = db.prepare(
    "UPDATE token SET revoked = $at WHERE (id = $name OR hash = $name) AND revoked IS NULL",
  );
  const use = db.prepare("UPDATE token SET used = max($at, coalesce(used, 0)) WHERE id = $id");
  return {
    create(token: Parameters<TokenStore["create"]>[0], now: number): void {
      forget.run(now - LIMITS.tokenKeptMs);
      if ((count.get() as { count: number }).count >= LIMITS.tokensMax) throw tooManyTokens();
      const {
        id,
        hash,
        name = null,
        principal,
        tenants,
        grants,
        agents,
        createdAt,
        expiresAt = null,
      } = token;
      const lists = [tenants, grants, agents].map(list => (list ? JSON.stringify(list) : null));
      insert.run(id, hash, name, principal, ...lists, createdAt, expiresAt);
    },
    named: (name: string) => named.get({ name }) as TokenRow | undefined,
    revoke: (name: string, at: number): void => void revoke.run({ name, at }),
    /** Not worth to wait for the disk. */
    used(uses: ReadonlyMap<string, number>): void {
      if (uses.size === 0) return;
      db.exec("PRAGMA synchronous = NORMAL");
      try {
        inTransaction(db, () => {
          for (const [id, at] of uses) use.run({ id, at });
        });
      } finally {
        db.exec("PRAGMA synchronous = FULL");
      }
    },
  };
}

function toToken(row: TokenRow | undefined, uses: ReadonlyMap<string, number>): AccessToken | null {
  if (!row) return null;
  const badge: Identity = {
    principal: row.principal,
    tenants: JSON.parse(row.tenants) as string[],
    grants: JSON.parse(row.grants) as Permission[],
    agents: row.agents === null ? undefined : (JSON.parse(row.agents) as string[]),
  };
  return {
    ...badge,
    id: row.id,
    name: row.name ?? undefined,
    createdAt: row.created,
    expiresAt: row.expires ?? undefined,
    revokedAt: row.revoked ?? undefined,
    usedAt: uses.get(row.id) ?? row.used ?? undefined,
  };
}
