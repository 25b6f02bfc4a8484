/** Locks a task's row from another connection, so that all writes to the task wait. */
import { Client } from "pg";
import { until } from "./client.ts";

export class RowLock {
  readonly #client: Client;
  readonly #taskId: string;

  private constructor(client: Client, taskId: string) {
    this.#client = client;
    this.#taskId = taskId;
  }

  static async take(url: string, taskId: string): Promise<RowLock> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query("BEGIN");
    await client.query("SELECT 1 FROM task WHERE id = $1 FOR UPDATE", [taskId]);
    return new RowLock(client, taskId);
  }

  /** The process id of the connection that waits for the row, when there is one. */
  async waiter(): Promise<number> {
    let pid: number | undefined;
    await until(async () => {
      // A transaction would see the same snapshot again and again.
      await this.#client.query("SELECT pg_stat_clear_snapshot()");
      const found = await this.#client.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid)) AND query LIKE '%changed%'",
      );
      pid = found.rows[0]?.pid;
      return pid !== undefined;
    }, 30_000);
    return pid as number;
  }

  /** Terminates the connection that waits for the row, as a failover or a pooler's restart does. */
  async endWaiter(): Promise<void> {
    // With a timeout: it returns when the process is gone.
    await this.#client.query("SELECT pg_terminate_backend($1, 30000)", [await this.waiter()]);
  }

  /** Appends an event to the task, as another node would. */
  async append(event: object): Promise<void> {
    await this.#client.query(
      `WITH moved AS (UPDATE task SET seq = seq + 1 WHERE id = $1 RETURNING key, seq, status_at)
       INSERT INTO segment (task, last, events)
       SELECT key, seq, '[[' || status_at || ',' || $2::text || ']]' FROM moved`,
      [this.#taskId, JSON.stringify(event)],
    );
  }

  /** Unlocks the row. */
  async end(how: "COMMIT" | "ROLLBACK"): Promise<void> {
    await this.#client.query(how);
    await this.#client.end();
  }
}
