import type { StoreAdmin } from "../../ports/index.ts";
import { copyStore } from "./maintenance/backup.ts";
import { checkStore } from "./maintenance/check.ts";
import { readTaskHistory } from "./maintenance/history.ts";
import { purgeStore } from "./maintenance/purge.ts";
import { countEncrypted, findKeyUse, reEncryptStore } from "./maintenance/re-encrypt.ts";
import { findStoreDamage } from "./open.ts";
import { createSqliteTokenStore } from "./token-store.ts";
import { readStoreUsage } from "./usage.ts";

export interface SqliteAdminParts {
  readonly folder: string;
  readonly now: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
}

/** Administration of the store in a folder. */
export function createSqliteAdmin({ folder, now, ticks }: SqliteAdminParts): StoreAdmin {
  return {
    location: folder,
    readHistory: async task => readTaskHistory(folder, task),
    readUsage: async query => readStoreUsage(folder, query),
    openTokens: async () => createSqliteTokenStore({ folder, now }),
    check: onProgress => checkStore(folder, { onProgress, signal: new AbortController().signal }),
    async backup(target, observer) {
      const copy = await copyStore({ folder, target, ...observer });
      const secrets = [...countEncrypted(folder).values()].reduce((sum, one) => sum + one, 0);
      return { ...copy, secrets, damage: findStoreDamage(folder) };
    },
    purge: request => purgeStore({ ...request, folder, now: now(), ticks }),
    countEncrypted: async () => countEncrypted(folder),
    findKeyUse: async () => findKeyUse(folder),
    reEncrypt: async encryption => reEncryptStore(folder, encryption),
  };
}
