/**
 * The data of a server under test: the folder that a test names, or, if tests run on Postgres, a database in
 * its place.
 */
import { startPostgres } from "./postgres.ts";

export const isOnPostgres = process.env.DRAGOMAN_TEST_STORE === "postgres";
const databases = new Map<string, Promise<string>>();

export function storeOf(data: string): string | Promise<string> {
  if (!isOnPostgres || data === ":memory:" || data.includes("://")) return data;
  const known = databases.get(data) ?? startPostgres().then(postgres => postgres.createDatabase());
  databases.set(data, known);
  return known;
}

/** The leases of a killed server expire soon. */
export const STORE_FLAGS: readonly string[] = isOnPostgres ? ["--lease-ms", "1000"] : [];
