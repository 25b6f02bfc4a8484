import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { credentials } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, it, type TestContext } from "vitest";
import type { AgentDefinition } from "../../src/agent/definition.ts";
import { createCertificate } from "../support/certificate.ts";
import { until } from "../support/client.ts";
import { BLOCKS } from "../support/documents/blocks.ts";
import { freePort } from "../support/free-port.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { createGrpcClient } from "../support/grpc.ts";
import { serve, type TestServer, tempFolder } from "../support/server.ts";

/** The files of docs/operate, unchanged, with real proxies in front of a real server. */

const fileOf = (name: string): string =>
  readFileSync(new URL(`../../docs/operate/${name}`, import.meta.url), "utf8");

let folder: ReturnType<typeof tempFolder>;
let server: TestServer;
let gate: Gate;
let proxy: ChildProcess | undefined;
/** What the proxy has printed: the reason if it cuts a stream. */
let output = "";
const certificate = createCertificate();

beforeEach(async () => {
  folder = tempFolder();
  gate = createGate();
  const waiter: AgentDefinition = {
    name: "waiter",
    async *run(task) {
      yield "one ";
      await gate.opened;
      yield `then ${task.text}`;
    },
  };
  server = await serve([waiter], { trustProxy: true });
});
afterEach(async () => {
  gate.open();
  if (proxy?.exitCode === null && proxy.kill()) await once(proxy, "exit");
  proxy = undefined;
  await server.stop();
  folder.remove();
});

const isThere = (program: string): boolean => spawnSync(program, ["version"]).error === undefined;

/** The names in the files, replaced by those of this machine. */
const atHome = (text: string, port: number): string =>
  text
    .replaceAll("127.0.0.1:2024", new URL(server.url).host)
    .replaceAll("/etc/ssl/agents.example", `${folder.path}/tls`)
    .replaceAll("agents.example", "localhost")
    .replace("listen 443", `listen 127.0.0.1:${port}`);

async function startNginx(site = fileOf("nginx.conf")): Promise<number> {
  writeFileSync(`${folder.path}/tls.pem`, certificate.cert);
  writeFileSync(`${folder.path}/tls.key`, certificate.key);
  const temps = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(one => `${one}_temp_path temp;`);
  const main = `daemon off; pid nginx.pid; error_log stderr; events {}
    http { access_log off; ${temps.join(" ")} include site.conf; }`;
  writeFileSync(`${folder.path}/nginx.conf`, main);
  mkdirSync(`${folder.path}/temp`);
  return startOnFreePort(port => {
    writeFileSync(`${folder.path}/site.conf`, atHome(site, port));
    return ["nginx", "-p", folder.path, "-c", "nginx.conf"];
  });
}

async function startCaddy(file = fileOf("Caddyfile")): Promise<number> {
  writeFileSync(`${folder.path}/tls.pem`, certificate.cert);
  writeFileSync(`${folder.path}/tls.key`, certificate.key);
  const global = "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n";
  return startOnFreePort(port => {
    const site = atHome(file, port).replace(
      "localhost {",
      `localhost:${port} {\n\ttls ${folder.path}/tls.pem ${folder.path}/tls.key`,
    );
    writeFileSync(`${folder.path}/Caddyfile`, global + site);
    return ["caddy", "run", "--adapter", "caddyfile", "--config", `${folder.path}/Caddyfile`];
  });
}

/** The blocks of the guide serve the agents below /a2a. */
const blockOf = (language: string): string => {
  const block = BLOCKS.find(one => one.page === "docs/guide/behind-a-proxy.md" && one.language === language);
  return block?.text ?? "";
};

async function isBelowPath(port: number): Promise<void> {
  let seen = "";
  const streaming = ask(port, "POST", "/a2a/agents/waiter", STREAM, text => (seen = text));
  await until(() => seen.includes('"one "'));
  gate.open();
  expect((await streaming).text, output).toContain('"then two"');
  const card = await ask(port, "GET", "/a2a/.well-known/agent-card.json");
  expect(card.text).toMatch(/https:\/\/localhost(?::\d+)?\/a2a\/agents\/waiter/);
}

/** A test that runs at the same time may take the port first: for Caddy, as a port of UDP as well. */
async function startOnFreePort(toCommand: (port: number) => readonly string[]): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    const [program = "", ...args] = toCommand(port);
    if (await start(program, args, port)) return port;
    if (tries === 5 || !/address already in use/i.test(output)) throw new Error(`${program}: ${output}`);
  }
}

/** False: the program has ended. */
async function start(program: string, args: readonly string[], port: number): Promise<boolean> {
  output = "";
  proxy = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, HOME: folder.path, XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path },
  });
  for (const stream of [proxy.stdout, proxy.stderr]) stream?.on("data", text => (output += text));
  const ended = once(proxy, "close").then(() => true);
  const hasEnded = (): boolean => proxy?.exitCode !== null;
  await until(async () => {
    const reply = await ask(port, "GET", "/.well-known/agent-card.json").catch(() => undefined);
    return reply !== undefined || hasEnded();
  });
  return !(hasEnded() && (await ended));
}

interface Reply {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

/** `onText`: called with the text so far, at every chunk. */
function ask(
  port: number,
  method: string,
  path: string,
  body?: string,
  onText: (text: string) => void = () => {},
): Promise<Reply> {
  const headers = { "Content-Type": "application/json", "A2A-Version": "1.0" };
  const options = { host: "localhost", port, method, path, headers, ca: certificate.cert };
  return new Promise((resolve, reject) => {
    const outgoing = request(options, response => {
      let text = "";
      response.setEncoding("utf8").on("data", more => onText((text += more)));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
      response.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

const MESSAGE = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "two" }] };
const STREAM = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "SendStreamingMessage",
  params: { message: MESSAGE },
});

async function passesEverything(port: number): Promise<void> {
  let seen = "";
  const streaming = ask(port, "POST", "/", STREAM, text => (seen = text));
  // Its end is still to come: a buffering proxy would return nothing.
  await until(() => seen.includes('"one "'));
  expect(seen).not.toContain('"then two"');
  gate.open();
  const stream = await streaming;
  expect(stream.text, output).toContain('"then two"');
  expect(stream.headers["content-type"]).toBe("text/event-stream");
  expect(stream.headers["x-request-id"]).toMatch(/^[\w-]{20,}$/);

  const card = JSON.parse((await ask(port, "GET", "/.well-known/agent-card.json")).text);
  expect(JSON.stringify(card)).toContain("https://localhost");
  for (const path of ["/metrics", "/admin/log-level", "/readyz"])
    expect([path, (await ask(port, "GET", path)).status]).toEqual([path, 404]);
  expect((await ask(port, "POST", "/", "x".repeat(11 * 1024 * 1024))).status).toBe(413);

  const client = createGrpcClient(`localhost:${port}`, credentials.createSsl(Buffer.from(certificate.cert)));
  const { json } = await client.ask("SendMessage", { message: { ...MESSAGE, messageId: "m2" } });
  const streamed = await client
    .open("SendStreamingMessage", { message: { ...MESSAGE, messageId: "m3" } })
    .all();
  client.close();
  expect(JSON.stringify(json)).toContain("two");
  expect(streamed.length).toBeGreaterThan(2);
}

const skipWithout = (context: TestContext, program: string): void => {
  if (!isThere(program)) context.skip(`${program} is not installed: docs/operate is not tested with it`);
};

describe("behind a proxy", () => {
  it("nginx, as configured in docs/operate, forwards streams unbuffered, and gRPC", async context => {
    skipWithout(context, "nginx");
    await passesEverything(await startNginx());
  });

  it("Caddy, as configured in docs/operate, does, too", async context => {
    skipWithout(context, "caddy");
    await passesEverything(await startCaddy());
  });

  it("nginx serves the agents below a path, as the guide configures it", async context => {
    const server = (text: string) =>
      `server { listen 443 ssl http2; ssl_certificate /etc/ssl/agents.example.pem; ssl_certificate_key /etc/ssl/agents.example.key; ${text} }`;
    skipWithout(context, "nginx");
    await isBelowPath(await startNginx(server(blockOf("nginx"))));
  });

  it("Caddy does, too", async context => {
    skipWithout(context, "caddy");
    await isBelowPath(await startCaddy(blockOf("caddyfile")));
  });

  it("the unit is valid for systemd", context => {
    skipWithout(context, "systemd-analyze");
    const unit = fileOf("dragoman.service").replace(/^ExecStart=\S+/m, "ExecStart=/bin/true");
    writeFileSync(`${folder.path}/dragoman.service`, unit);
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", `${folder.path}/dragoman.service`]);
    expect([status, stderr.toString()]).toEqual([0, ""]);
  });

  it("the rules are valid for Prometheus, and so are the metrics", async context => {
    skipWithout(context, "promtool");
    const rules = new URL("../../docs/operate/alerts.yml", import.meta.url).pathname;
    const checked = spawnSync("promtool", ["check", "rules", rules]);
    expect([checked.status, checked.stdout.toString()]).toEqual([0, expect.stringContaining("SUCCESS")]);
    const input = await (await fetch(`${server.url}/metrics`)).text();
    const ours = input.split(/\n(?=# HELP)/).filter(block => block.startsWith("# HELP dragoman_"));
    const linted = spawnSync("promtool", ["check", "metrics"], { input: `${ours.join("\n")}\n` });
    expect([linted.status, linted.stderr.toString()]).toEqual([0, ""]);
  });
});
