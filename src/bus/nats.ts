import { connect, type NatsConnection } from "@nats-io/transport-node";
import type { RemoteBus, RemoteBusParts } from "../ports/index.ts";
import { type BusConnection, createRemoteBus } from "./remote.ts";

export interface NatsBusParts extends RemoteBusParts {
  /** nats://user:password@host:4222, or several of these separated by commas. */
  readonly url: string;
  /** The id of the store that the nodes share: several clusters may use one NATS server. */
  readonly cluster: string;
}

const TIMEOUT_MS = 5_000;

/** Notifications over NATS, for clusters where NOTIFY of Postgres is the limit. */
export function createNatsBus(parts: NatsBusParts): RemoteBus {
  const subject = `dragoman.${parts.cluster}`;

  return createRemoteBus(parts, async (onMessage): Promise<BusConnection> => {
    const connection = await connectTo(parts.url);
    connection.subscribe(subject, {
      callback: (error, message) => {
        if (!error) onMessage(message.string());
      },
    });
    return {
      ended: connection.closed(),
      async send(text) {
        connection.publish(subject, text);
      },
      async close() {
        if (connection.isClosed()) return;
        // Flush the last messages, unless the server no longer answers.
        await Promise.race([
          connection.drain(),
          new Promise(resolve => void setTimeout(resolve, TIMEOUT_MS).unref()),
        ]);
        await connection.close();
      },
    };
  });
}

function connectTo(url: string): Promise<NatsConnection> {
  const addresses = url.split(",").map(address => new URL(address));
  const [{ username, password, protocol }] = addresses as [URL];
  return connect({
    servers: addresses.map(address => address.host),
    // The remote bus reconnects itself, because every new connection must be followed by a check for missed notifications.
    reconnect: false,
    timeout: TIMEOUT_MS,
    ...(protocol === "tls:" && { tls: {} }),
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
  });
}
