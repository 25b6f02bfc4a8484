/** A webhook: a real server that stores its requests, and answers as the test decides. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { until } from "./client.ts";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at any payload.
  readonly body: any;
  readonly id: string;
}

/** "reset": the connection is reset. "hang": no response, ever. */
export type Response =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | "reset"
  | "hang";
export type Responder = (received: Received, nth: number) => Response | Promise<Response>;

export interface Receiver {
  readonly url: string;
  readonly all: Received[];
  /** Those for one path, in the order of arrival. */
  at(path: string): Received[];
  /** Resolves when so many have arrived. */
  got(count: number, path?: string): Promise<Received[]>;
  /** The first one that matches, as soon as it has arrived. */
  find(is: (one: Received) => boolean): Promise<Received>;
  answer: Responder;
  close(): Promise<void>;
}

const NO_CONTENT: Responder = () => ({ status: 204 });

export async function openReceiver(answer = NO_CONTENT, port = 0): Promise<Receiver> {
  const all: Received[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", chunk => (text += chunk));
    request.on("end", async () => {
      const { headers, url: path = "" } = request;
      const received = { path, headers, text, body: JSON.parse(text), id: String(headers["webhook-id"]) };
      all.push(received);
      const reply = await receiver.answer(received, all.length);
      if (reply === "reset") request.socket.resetAndDestroy();
      else if (reply !== "hang") response.writeHead(reply.status, reply.headers).end(reply.body);
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
