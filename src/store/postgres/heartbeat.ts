import type { ClusterNode, Log } from "../../ports/index.ts";
import type { Database } from "./database.ts";
import { MIGRATIONS } from "./sql/index.ts";

const HEARTBEAT_MS = 5_000;
/** A node without a heartbeat for this long is gone. */
export const NODE_TIMEOUT_MS = 3 * HEARTBEAT_MS;

const BEAT = `
WITH here AS (
  INSERT INTO node (id, schema, seen, version) VALUES ($1, $2, clock_timestamp(), $4)
  ON CONFLICT (id) DO UPDATE SET seen = excluded.seen
), gone AS (
  DELETE FROM node WHERE id IN (
    SELECT id FROM node WHERE seen < clock_timestamp() - $3 * interval '2 ms' FOR UPDATE SKIP LOCKED)
)
SELECT count(*) AS others FROM node WHERE id <> $1 AND seen > clock_timestamp() - $3 * interval '1 ms'`;

const NODES = `SELECT id, version, (extract(epoch FROM started) * 1000)::bigint AS "startedAt",
  (extract(epoch FROM seen) * 1000)::bigint AS "seenAt" FROM node
  WHERE seen > clock_timestamp() - $1 * interval '1 ms' ORDER BY started, id LIMIT 1000`;

export interface Heartbeat {
  /** The nodes with a recent heartbeat. */
  readNodes(): Promise<readonly ClusterNode[]>;
  /** The number of nodes at the last heartbeat, including this one. */
  countNodes(): number;
  close(): Promise<void>;
}

/** Records regularly that this node is alive, and counts the others. */
export async function startHeartbeat(
  db: Database,
  { node, version, log }: { readonly node: string; readonly version: string; readonly log: Log },
): Promise<Heartbeat> {
  let others = 0;
  async function beat(): Promise<void> {
    const [row] = await db.query<{ others: number }>(BEAT, [
      node,
      MIGRATIONS.length,
      NODE_TIMEOUT_MS,
      version,
    ]);
    others = row?.others ?? 0;
  }
  await beat();
  let beating = Promise.resolve();
  const timer = setInterval(() => {
    beating = beat().catch(error => log.debug({ err: error }, "the heartbeat of this node failed"));
  }, HEARTBEAT_MS).unref();
  return {
    countNodes: () => 1 + others,
    readNodes: () => db.query<ClusterNode>(NODES, [NODE_TIMEOUT_MS]),
    async close() {
      clearInterval(timer);
      await beating;
      await db.query("DELETE FROM node WHERE id = $1", [node]).catch(() => {});
    },
  };
}
