import { StartupError } from "../../lib/startup-error.ts";
import type { Log, StoreAdmin } from "../../ports/index.ts";
import { checkPostgres } from "./maintenance/check.ts";
import { readPostgresHistory, readPostgresUsage } from "./maintenance/history.ts";
import { createPostgresTokenStore } from "./tokens.ts";

export interface PostgresAdminParts {
  readonly url: string;
  /** The URL without its password. */
  readonly location: string;
  readonly now: () => number;
  readonly log: Log;
}

/** Administration of the store in a Postgres database. */
export function createPostgresAdmin(parts: PostgresAdminParts): StoreAdmin {
  return {
    location: parts.location,
    readHistory: task => readPostgresHistory(parts, task),
    readUsage: query => readPostgresUsage(parts, query),
    openTokens: () => createPostgresTokenStore(parts),
    check: onProgress => checkPostgres({ ...parts, onProgress }),
    backup: () => refuse("Back up a Postgres store with pg_dump."),
    purge: () =>
      refuse(
        "Tasks of a Postgres store are removed by its servers: set `retention` in the agent's definition.",
      ),
    countEncrypted: async () => undefined,
    findKeyUse: async () => undefined,
    reEncrypt: () =>
      refuse("Secrets in a Postgres store cannot be encrypted again: keep its old keys in the key file."),
  };
}

const refuse = (message: string): Promise<never> => Promise.reject(new StartupError(message));
