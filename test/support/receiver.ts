/** A webhook: a real server that keeps what it got, and answers as the test says. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { until } from "./client.ts";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came.
  readonly body: any;
  readonly id: string;
}

/** "reset": the connection breaks. "hang": no answer, ever. */
export type Response =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | "reset"
  | "hang";
export type Answer = (received: Received, nth: number) => Response | Promise<Response>;

export interface Receiver {
  readonly url: string;
  readonly all: Received[];
  /** Those for one path, in the order in which they came. */
  at(path: string): Received[];
  /** Resolves when so many have come. */
  got(count: number, path?: string): Promise<Received[]>;
  /** The first one that is like this, as soon as it has come. */
  find(is: (one: Received) => boolean): Promise<Received>;
  answer: Answer;
  close(): Promise<void>;
}

const FINE: Answer = () => ({ status: 204 });

export async function openReceiver(answer = FINE, port = 0): Promise<Receiver> {
  const all: Received[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", chunk => (text += chunk));
    request.on("end", async () => {
      const { headers, url: path = "" } = request;
      const received = { path, headers, text, body: JSON.parse(text), id: String(headers["webhook-id"]) };
      all.push(received);
      const said = await receiver.answer(received, all.length);
      if (said === "reset") request.socket.resetAndDestroy();
      else if (said !== "hang") response.writeHead(said.status, said.headers).end(said.body);
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    all,
    answer,
    at: path => all.filter(one => one.path === path),
    async got(count, path) {
      const those = (): Received[] => (path === undefined ? all : receiver.at(path));
      await until(() => those().length >= count);
      return those();
    },
    async find(is) {
      await until(() => all.some(is));
      return all.find(is) as Received;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}
