import type pg from "pg";
import { isDatabaseDown } from "./database-error.ts";

/**
 * The only connection of a pool. The pool would hand it out in the next tick, after all that has to be done in this one; here
 * a statement is sent at once, also while another one is under way: Postgres executes them one after another, and does not
 * wait for this process in between.
 */
export class KeptConnection {
  readonly #pool: pg.Pool;
  #client: pg.PoolClient | undefined;
  #connecting: Promise<pg.PoolClient> | undefined;
  readonly #statements = new Set<Promise<unknown>>();
  /** Resolves when the transaction that is under way, or about to begin, has ended. */
  #transaction: Promise<void> | undefined;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** A statement outside of a transaction. */
  async query(statement: pg.QueryConfig, values: unknown[]): Promise<pg.QueryResult> {
    while (this.#transaction) await this.#transaction;
    const client = this.#client ?? (await this.#connect());
    const sent = client.query(statement, values);
    this.#statements.add(sent);
    try {
      return await sent;
    } catch (error) {
      if (isDatabaseDown(error)) this.drop(client, error as Error);
      throw error;
    } finally {
      this.#statements.delete(sent);
    }
  }

  /** No other statement is sent until `work` has ended. */
  async useAlone<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    while (this.#transaction) await this.#transaction;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#transaction = promise;
    try {
      await Promise.allSettled(this.#statements);
      return await work(this.#client ?? (await this.#connect()));
    } finally {
      this.#transaction = undefined;
      resolve();
    }
  }

  /** Its state is unknown: the next statement gets a new connection. */
  drop(client: pg.PoolClient, error: Error): void {
    if (this.#client === client) this.#release(error);
  }

  close(): void {
    if (this.#client) this.#release();
  }

  #release(error?: Error): void {
    this.#client?.release(error);
    this.#client = undefined;
  }

  #connect(): Promise<pg.PoolClient> {
    this.#connecting ??= this.#open().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #open(): Promise<pg.PoolClient> {
    const client = await this.#pool.connect();
    // Without a listener, a connection that breaks would end the process.
    client.on("error", error => this.drop(client, error));
    this.#client = client;
    return client;
  }
}
