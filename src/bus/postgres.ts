import pg from "pg";
import { createRemoteBus, type Link, type RemoteBus, type RemoteBusParts } from "./remote.ts";

export interface PostgresBusParts extends RemoteBusParts {
  /** Of Postgres itself: a pooler would lend the connection to others. */
  readonly url: string;
  /** What the nodes of one store have in common. */
  readonly cluster: string;
}

const WAIT_MS = 10_000;

/**
 * Rings by NOTIFY, on a connection of its own: in the transaction of an append it would make all commits queue behind
 * one lock. It need not survive anything, so it does not wait for the disk.
 */
export function createPostgresBus(parts: PostgresBusParts): RemoteBus {
  const channel = `dragoman_${parts.cluster}`;

  return createRemoteBus(parts, async (hear): Promise<Link> => {
    const client = new pg.Client({
      connectionString: parts.url,
      application_name: "dragoman bell",
      connectionTimeoutMillis: WAIT_MS,
      query_timeout: WAIT_MS,
      keepAlive: true,
    });
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    client.on("notification", ({ payload = "" }) => hear(payload));
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
