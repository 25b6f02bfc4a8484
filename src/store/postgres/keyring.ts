import type { Database } from "./database.ts";

/** The keys of a cluster that was given none: made by whichever node comes first, and the same for all. */
export async function sharedRing(db: Database, make: () => string): Promise<string> {
  await db.query("INSERT INTO keyring (place, ring) VALUES (1, $1) ON CONFLICT DO NOTHING", [make()]);
  const [row] = await db.query<{ ring: string }>("SELECT ring FROM keyring WHERE place = 1");
  return row?.ring as string;
}
