import { once } from "node:events";
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A proxy in front of another server, which can be made to fail. */
export interface TestProxy {
  readonly url: string;
  /** The URL of the target. */
  target: string;
  /** The requests, the newest last. */
  readonly calls: {
    readonly path: string;
    readonly headers: IncomingMessage["headers"];
    readonly body: string;
  }[];
  /** Answers instead of the target; false: passes the request on. */
  instead: (body: string, response: ServerResponse, request: IncomingMessage) => boolean;
  /** Cuts all connections. */
  cut(): void;
  close(): Promise<void>;
}

export async function startProxy(): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    proxy.calls.push({ path: request.url ?? "", headers: request.headers, body });
    if (proxy.instead(body, response, request)) return;
    if (proxy.target === "") return void response.writeHead(503).end();
    const { host: _, ...headers } = request.headers;
    const onward = forward(
      `${proxy.target}${request.url}`,
      { method: request.method ?? "GET", headers },
      reply => {
        response.writeHead(reply.statusCode ?? 500, reply.headers);
        reply.pipe(response);
        reply.on("error", () => response.destroy());
      },
    );
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    onward.end(body);
  });
  server.on("connection", socket => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: TestProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: "",
    calls: [],
    instead: () => false,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
  return proxy;
}
