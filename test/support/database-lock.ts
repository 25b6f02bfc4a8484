/** Locks rows or tables from another connection, so that all writes to them wait. */
import { Client } from "pg";
import { until } from "./client.ts";

class DatabaseLock {
  protected readonly client: Client;

  protected constructor(client: Client) {
    this.client = client;
  }

  /** The process id of the connection that waits for the lock, when there is one. `text`: in its statement. */
  async waiter(text = ""): Promise<number> {
    let pid: number | undefined;
    await until(async () => {
      // A transaction would see the same snapshot again and again.
      await this.client.query("SELECT pg_stat_clear_snapshot()");
      const found = await this.client.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid)) AND query LIKE $1",
        [`%${text}%`],
      );
      pid = found.rows[0]?.pid;
      return pid !== undefined;
    }, 30_000);
    return pid as number;
  }

  /** Terminates the connection that waits for the lock, as a failover or a pooler's restart does. */
  async endWaiter(): Promise<void> {
    // With a timeout: it returns when the process is gone.
    await this.client.query("SELECT pg_terminate_backend($1, 30000)", [await this.waiter()]);
  }

  /** Unlocks. */
  async end(how: "COMMIT" | "ROLLBACK" = "ROLLBACK"): Promise<void> {
    await this.client.query(how);
    await this.client.end();
  }
}

async function begin(url: string, sql: string, values: readonly unknown[] = []): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("BEGIN");
  await client.query(sql, [...values]);
  return client;
}

export class TableLock extends DatabaseLock {
  static async take(url: string, table: "task"): Promise<TableLock> {
    return new TableLock(await begin(url, `LOCK TABLE ${table} IN EXCLUSIVE MODE`));
  }
}

export class RowLock extends DatabaseLock {
  readonly #taskId: string;

  private constructor(client: Client, taskId: string) {
    super(client);
    this.#taskId = taskId;
  }

  static async take(url: string, taskId: string): Promise<RowLock> {
    return new RowLock(await begin(url, "SELECT 1 FROM task WHERE id = $1 FOR UPDATE", [taskId]), taskId);
  }

  /** Of a write, and not of a renewal of the lease. */
  override waiter(): Promise<number> {
    return super.waiter("changed");
  }

  /** Appends an event to the task, as another node would. */
  async append(event: object): Promise<void> {
    await this.client.query(
      `WITH moved AS (UPDATE task SET seq = seq + 1 WHERE id = $1 RETURNING key, seq, status_at)
       INSERT INTO segment (task, last, events)
       SELECT key, seq, '[[' || status_at || ',' || $2::text || ']]' FROM moved`,
      [this.#taskId, JSON.stringify(event)],
    );
  }
}
