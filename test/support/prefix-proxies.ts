/** Proxies that serve another server below a path. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as forward } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./client.ts";
import { BLOCKS } from "./documents/blocks.ts";
import { freePort } from "./free-port.ts";

export interface PrefixProxy {
  /** With the path, without a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

/** The path of the blocks in docs/guide/behind-a-proxy.md. */
const PREFIX = "/a2a";

/** A few lines of Node: knows nothing but the path. */
export async function startNodeProxy(target: string): Promise<PrefixProxy> {
  const server = createServer((request, response) => {
    if (!request.url?.startsWith(`${PREFIX}/`)) return void response.writeHead(404).end();
    const { host, ...headers } = request.headers;
    const onward = forward(
      `${target}${request.url.slice(PREFIX.length)}`,
      {
        method: request.method ?? "GET",
        headers: { ...headers, "x-forwarded-host": host, "x-forwarded-prefix": PREFIX },
      },
      reply => {
        response.writeHead(reply.statusCode ?? 500, reply.headers);
        reply.pipe(response);
        reply.on("error", () => response.destroy());
      },
    );
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PREFIX}`,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

export const hasNginx = spawnSync("nginx", ["-v"]).error === undefined;
if (!hasNginx) process.stderr.write("\n*** There is no nginx on this machine: NOT tested behind it ***\n\n");

const isOpen = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.on("error", () => resolve(false)).on("connect", () => socket.end());
  });

/** nginx with the block of the guide, without TLS. */
export async function startNginxProxy(target: string): Promise<PrefixProxy> {
  const folder = mkdtempSync(join(tmpdir(), "console-nginx-"));
  const port = await freePort();
  const block = BLOCKS.find(one => one.page === "docs/guide/behind-a-proxy.md" && one.language === "nginx")
    ?.text.replaceAll("127.0.0.1:2024", new URL(target).host)
    // The port is part of the name here, as it is not with 443.
    .replaceAll("$host;", "$http_host;");
  const temps = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(one => `${one}_temp_path temp;`);
  mkdirSync(join(folder, "temp"));
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; pid nginx.pid; error_log stderr; events {}
    http { access_log off; ${temps.join(" ")} server { listen 127.0.0.1:${port}; ${block} } }`,
  );
  const child: ChildProcess = spawn("nginx", ["-p", folder, "-c", "nginx.conf"], { stdio: "ignore" });
  const exited = once(child, "exit");
  await until(() => isOpen(port));
  return {
    url: `http://127.0.0.1:${port}${PREFIX}`,
    async close() {
      child.kill();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
