import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript",
  css: "text/css",
};

export interface PageServer {
  readonly url: string;
  close(): void;
}

/** Serves files from memory, at another origin than the agents. */
export async function servePages(files: ReadonlyMap<string, string>): Promise<PageServer> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    const text = files.get(pathname === "/" ? "/index.html" : pathname);
    const type = TYPES[pathname === "/" ? "html" : (pathname.split(".").at(-1) ?? "")] ?? "text/plain";
    response.writeHead(text === undefined ? 404 : 200, { "content-type": type }).end(text);
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
