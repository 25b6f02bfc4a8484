import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Sink {
  url: string;
  close(): void;
}

/** Takes traces and throws them away, in the process of the bench: what it costs to take them is nobody's cost. */
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
