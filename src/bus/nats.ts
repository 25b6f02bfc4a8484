import { connect, type NatsConnection } from "@nats-io/transport-node";
import { createRemoteBus, type Link, type RemoteBus, type RemoteBusParts } from "./remote.ts";

export interface NatsBusParts extends RemoteBusParts {
  /** nats://user:password@host:4222, several with commas between them. */
  readonly url: string;
  /** What the nodes of one store have in common: others may share the NATS. */
  readonly cluster: string;
}

const WAIT_MS = 5_000;

/** Rings over NATS, for clusters where NOTIFY is the limit. */
export function createNatsBus(parts: NatsBusParts): RemoteBus {
  const subject = `dragoman.${parts.cluster}`;

  return createRemoteBus(parts, async (hear): Promise<Link> => {
    const connection = await open(parts.url);
    connection.subscribe(subject, {
      callback: (error, message) => {
        if (!error) hear(message.string());
      },
    });
    return {
      ended: connection.closed(),
      async send(text) {
        connection.publish(subject, text);
      },
      async close() {
        if (connection.isClosed()) return;
        // What was published last goes out before the end, if there is still a way.
        await Promise.race([
          connection.drain(),
          new Promise(resolve => void setTimeout(resolve, WAIT_MS).unref()),
        ]);
        await connection.close();
      },
    };
  });
}

function open(url: string): Promise<NatsConnection> {
  const addresses = url.split(",").map(one => new URL(one));
  const [{ username, password, protocol }] = addresses as [URL];
  return connect({
    servers: addresses.map(one => one.host),
    // Who makes the next connection is the bus: it knows what was missed meanwhile.
    reconnect: false,
    timeout: WAIT_MS,
    ...(protocol === "tls:" && { tls: {} }),
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
  });
}
