/** Where a server under test keeps its data: in the folder that a test names, or, where tests are about Postgres, in a database that stands for it. */
import { startPostgres } from "./postgres.ts";

export const isOnPostgres = process.env.DRAGOMAN_TEST_STORE === "postgres";
const databases = new Map<string, Promise<string>>();

export function placeOf(data: string): string | Promise<string> {
  if (!isOnPostgres || data === ":memory:" || data.includes("://")) return data;
  const known = databases.get(data) ?? startPostgres().then(postgres => postgres.createDatabase());
  databases.set(data, known);
  return known;
}

/** What a killed server held is free again soon. */
export const PLACE_FLAGS: readonly string[] = isOnPostgres ? ["--lease-ms", "1000"] : [];
