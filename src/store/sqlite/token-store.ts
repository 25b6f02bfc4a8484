import type { DatabaseSync } from "node:sqlite";
import { type Identity, LIMITS, type Permission, tooManyTokens } from "../../model/index.ts";
import type { AccessToken, TokenStore } from "../../ports/index.ts";
import type { TokenRow } from "../kernel/store-export.ts";
import { inTransaction, openTokenFile } from "./token-file.ts";

export interface SqliteTokenStoreParts {
  readonly folder: string;
  readonly now: () => number;
}

/** Tokens in a file beside the store: the store is locked by one server, this file can be written by the CLI as well. */
export function createSqliteTokenStore({ folder, now }: SqliteTokenStoreParts): TokenStore {
  const db = openTokenFile(folder);
  const selectByHash = db.prepare("SELECT * FROM token WHERE hash = ?");
  const selectAll = db.prepare("SELECT * FROM token ORDER BY created DESC, id");
  const selectVersion = db.prepare("PRAGMA data_version");
  const writer = createTokenWriter(db);
  /** Times of last use that are not written yet. */
  const uses = new Map<string, number>();
  let flushTimer: NodeJS.Timeout | undefined;
  let seenVersion = 0;
  let revision = 0;
  let checkedAt = Number.NEGATIVE_INFINITY;

  function flush(): void {
    clearTimeout(flushTimer);
    flushTimer = undefined;
    try {
      writer.recordUses(uses);
      uses.clear();
    } catch {
      // The file is locked or the disk is full: try again after the next use.
    }
  }

  return {
    find: hash => toToken(selectByHash.get(hash) as TokenRow | undefined, uses),
    list: async () =>
      (selectAll.all() as unknown as TokenRow[]).map(row => toToken(row, uses) as AccessToken),
    async create(token) {
      writer.create(token, now());
      revision += 1;
    },
    async revoke(name, at) {
      writer.revoke(name, at);
      revision += 1;
      return toToken(writer.find(name), uses);
    },
    revision() {
      const at = now();
      if (at - checkedAt < LIMITS.tokenCheckMs) return revision;
      checkedAt = at;
      const { data_version: found } = selectVersion.get() as { data_version: number };
      if (found !== seenVersion) revision += 1;
      seenVersion = found;
      return revision;
    },
    recordUse(id, at) {
      uses.set(id, at);
      flushTimer ??= setTimeout(flush, LIMITS.tokenUsedMs).unref();
    },
    async close() {
      flush();
      db.close();
    },
  };
}

function createTokenWriter(db: DatabaseSync) {
  const insert = db.prepare(
    `INSERT INTO token (id, hash, name, principal, tenants, grants, agents, created, expires)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const deleteExpired = db.prepare("DELETE FROM token WHERE coalesce(revoked, expires) < ?");
  const count = db.prepare("SELECT count(*) AS count FROM token");
  const select = db.prepare("SELECT * FROM token WHERE id = $name OR hash = $name");
  const revoke = db.prepare(
    "UPDATE token SET revoked = $at WHERE (id = $name OR hash = $name) AND revoked IS NULL",
  );
  const use = db.prepare("UPDATE token SET used = max($at, coalesce(used, 0)) WHERE id = $id");
  return {
    create(token: Parameters<TokenStore["create"]>[0], now: number): void {
      deleteExpired.run(now - LIMITS.expiredTokenMs);
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
    /** `name`: the id or the hash. */
    find: (name: string) => select.get({ name }) as TokenRow | undefined,
    revoke: (name: string, at: number): void => void revoke.run({ name, at }),
    /** Without waiting for the disk: losing a time of use is harmless. */
    recordUses(uses: ReadonlyMap<string, number>): void {
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
  const identity: Identity = {
    principal: row.principal,
    tenants: JSON.parse(row.tenants) as string[],
    grants: JSON.parse(row.grants) as Permission[],
    agents: row.agents === null ? undefined : (JSON.parse(row.agents) as string[]),
  };
  return {
    ...identity,
    id: row.id,
    name: row.name ?? undefined,
    createdAt: row.created,
    expiresAt: row.expires ?? undefined,
    revokedAt: row.revoked ?? undefined,
    usedAt: uses.get(row.id) ?? row.used ?? undefined,
  };
}
