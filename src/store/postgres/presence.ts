import type { Log } from "../../ports/index.ts";
import type { Database } from "./database.ts";
import { MIGRATIONS } from "./sql/index.ts";

/** Between two signs of life. */
const BEAT_MS = 5_000;
/** Who has given none for so long is gone. */
export const NODE_MS_MAX = 3 * BEAT_MS;

const BEAT = `
WITH here AS (
  INSERT INTO node (id, schema, seen) VALUES ($1, $2, clock_timestamp())
  ON CONFLICT (id) DO UPDATE SET seen = excluded.seen
), gone AS (
  DELETE FROM node WHERE id IN (
    SELECT id FROM node WHERE seen < clock_timestamp() - $3 * interval '2 ms' FOR UPDATE SKIP LOCKED)
)
SELECT count(*) AS others FROM node WHERE id <> $1 AND seen > clock_timestamp() - $3 * interval '1 ms'`;

export interface Presence {
  /** How many nodes there are, this one among them, as far as is known. */
  count(): number;
  close(): Promise<void>;
}

/** Tells the other nodes that this one is here, and hears of them. */
export async function createPresence(db: Database, node: string, log: Log): Promise<Presence> {
  let others = 0;
  async function beat(): Promise<void> {
    const [row] = await db.query<{ others: number }>(BEAT, [node, MIGRATIONS.length, NODE_MS_MAX]);
    others = row?.others ?? 0;
  }
  const tryBeat = (): Promise<void> =>
    beat().catch(error => log.debug({ err: error }, "other nodes cannot be counted now"));
  await beat();
  let beating = Promise.resolve();
  const timer = setInterval(() => void (beating = tryBeat()), BEAT_MS).unref();
  return {
    count: () => 1 + others,
    async close() {
      clearInterval(timer);
      await beating;
      await db.query("DELETE FROM node WHERE id = $1", [node]).catch(() => {});
    },
  };
}
