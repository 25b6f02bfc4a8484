import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Sink {
  url: string;
  close(): void;
}

/** Accepts traces and discards them, in the process of the bench: the cost belongs to no server. */
export async function openSink(): Promise<Sink> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
