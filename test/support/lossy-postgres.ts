/**
 * A proxy in front of Postgres that can lose responses: the statement is executed, and the connection ends
 * before its response.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface LossyPostgres {
  /** The same database, through the proxy. */
  urlOf(url: string): string;
  /**
   * Loses the response to the next statement that contains this text; with several texts: to the last of
   * them, when they come one after another on one connection. Resolves when it is lost.
   */
  loseResponseTo(...texts: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

interface Loss {
  readonly texts: readonly string[];
  readonly lost: () => void;
}

/** "Ready for query": the end of every response. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);

export async function openLossyPostgres(postgresUrl: string): Promise<LossyPostgres> {
  const { hostname, port } = new URL(postgresUrl);
  const sockets = new Set<Socket>();
  let pending: Loss | undefined;

  const server = createServer(client => {
    const database = connect(Number(port), hostname);
    const end = (): void => {
      client.destroy();
      database.destroy();
    };
    /** How many of the texts have come on this connection, and the pending loss. */
    let matched = 0;
    let current: Loss | undefined;
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on("error", end).on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on("data", (bytes: Buffer) => {
      if (pending && bytes.includes(pending.texts[matched] as string)) matched += 1;
      if (pending && matched === pending.texts.length) {
        current = pending;
        pending = undefined;
      }
      database.write(bytes);
    });
    database.on("data", (bytes: Buffer) => {
      if (!current) client.write(bytes);
      else if (bytes.includes(READY)) {
        end();
        current.lost();
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxyPort = (server.address() as AddressInfo).port;
  return {
    urlOf: url => Object.assign(new URL(url), { port: String(proxyPort) }).href,
    loseResponseTo: (...texts) => new Promise(resolve => (pending = { texts, lost: resolve })),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
