import type { Run } from "../../ports/index.ts";
import type { Asker } from "./database.ts";

/** A task that was begun has a worker and comes before others of its context; this worker can renew nothing. */
const GIVE_UP = `
WITH held AS MATERIALIZED (
  SELECT t.key FROM unnest($1::uuid[], $2::text[], $3::int[]) AS r(id, worker, attempt) JOIN task t ON t.id = r.id
  WHERE t.worker = r.worker AND t.attempt = r.attempt AND t.state = 1 ORDER BY t.key FOR UPDATE OF t
)
UPDATE task t SET worker = '', lease_until = 0 FROM held WHERE t.key = held.key`;

/** Ends the leases of these runs: their tasks are due, and their next runs come after a crash. */
export async function giveUp(on: Asker, runs: readonly Run[]): Promise<void> {
  await on.query(GIVE_UP, [
    runs.map(run => run.task.id),
    runs.map(run => run.worker),
    runs.map(run => run.attempt),
  ]);
}
