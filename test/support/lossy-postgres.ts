/** A way to Postgres on which answers can be lost: the statement is done, the connection ends, and its answer never comes. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface LossyPostgres {
  /** The same database, by this way. */
  through(url: string): string;
  /**
   * Loses the answer to the next statement that contains these words; several: to the last of them, when they come one
   * after another on one connection. Resolves when it is lost.
   */
  loseAnswerTo(...words: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

interface Wish {
  readonly words: readonly string[];
  readonly lost: () => void;
}

/** "Ready for query": the end of every answer. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);

export async function openLossyPostgres(postgresUrl: string): Promise<LossyPostgres> {
  const { hostname, port } = new URL(postgresUrl);
  const sockets = new Set<Socket>();
  let wish: Wish | undefined;

  const server = createServer(client => {
    const database = connect(Number(port), hostname);
    const end = (): void => {
      client.destroy();
      database.destroy();
    };
    /** How many of the words have come on this connection, and what is to be done when the answer is there. */
    let matched = 0;
    let losing: Wish | undefined;
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on("error", end).on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on("data", (bytes: Buffer) => {
      if (wish && bytes.includes(wish.words[matched] as string)) matched += 1;
      if (wish && matched === wish.words.length) {
        losing = wish;
        wish = undefined;
      }
      database.write(bytes);
    });
    database.on("data", (bytes: Buffer) => {
      if (!losing) client.write(bytes);
      else if (bytes.includes(READY)) {
        end();
        losing.lost();
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = (server.address() as AddressInfo).port;
  return {
    through: url => Object.assign(new URL(url), { port: String(own) }).href,
    loseAnswerTo: (...words) => new Promise(resolve => (wish = { words, lost: resolve })),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
