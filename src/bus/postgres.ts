import pg from "pg";
import type { RemoteBus, RemoteBusParts } from "../ports/index.ts";
import { type BusConnection, createRemoteBus } from "./remote.ts";

export interface PostgresBusParts extends RemoteBusParts {
  /** The address of Postgres itself: a pooler would share the LISTEN connection with other clients. */
  readonly url: string;
  /** The id of the store that the nodes share. */
  readonly cluster: string;
}

const TIMEOUT_MS = 10_000;

/**
 * Notifications by NOTIFY, on a connection of its own: inside the transaction of an append, NOTIFY would make all commits
 * queue behind one lock. A notification need not survive a crash, so `synchronous_commit` is off.
 */
export function createPostgresBus(parts: PostgresBusParts): RemoteBus {
  const channel = `dragoman_${parts.cluster}`;

  return createRemoteBus(parts, async (onMessage): Promise<BusConnection> => {
    const client = new pg.Client({
      connectionString: parts.url,
      application_name: "dragoman bell",
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
      keepAlive: true,
    });
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    client.on("notification", ({ payload = "" }) => onMessage(payload));
    client.on("error", () => {});
    client.once("end", resolve);
    try {
      await client.connect();
      await client.query(`SET synchronous_commit = off; LISTEN ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    return {
      ended,
      async send(text) {
        await client.query("SELECT pg_notify($1, $2)", [channel, text]);
      },
      async close() {
        resolve();
        await client.end();
      },
    };
  });
}
