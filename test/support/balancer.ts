/** A simple load balancer: each connection goes to the next node that answers, and some are cut. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Balancer {
  readonly url: string;
  /** Cuts every connection through it with this probability. */
  cut(likelihood: number, chance: () => number): void;
  close(): Promise<void>;
}

export async function startBalancer(ports: () => readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let turn = 0;

  function join(client: Socket, tries: number): void {
    const all = ports();
    const node = connect(all[turn++ % all.length] as number, "127.0.0.1");
    let joined = false;
    const end = (): void => {
      client.destroy();
      node.destroy();
    };
    node.once("connect", () => {
      joined = true;
      client.pipe(node).pipe(client);
      client.once("close", end);
      node.once("close", end);
    });
    node.on("error", () => {
      if (!joined && tries < all.length && !client.destroyed) join(client, tries + 1);
      else end();
    });
  }

  const server = createServer(client => {
    open.add(client);
    client.on("error", () => {});
    client.once("close", () => open.delete(client));
    join(client, 1);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut(likelihood, chance) {
      for (const socket of open) if (chance() < likelihood) socket.destroy();
    },
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, "close");
    },
  };
}
