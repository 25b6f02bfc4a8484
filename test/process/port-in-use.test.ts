/**
 * The default port is a preference: if another program uses it, the server takes the next free one and prints
 * it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ClientFactory } from "@a2a-js/sdk/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { agent } from "../../src/agent/definition.ts";
import { toSettings } from "../../src/config/config.ts";
import { OPTIONS } from "../../src/config/options/index.ts";
import { until } from "../support/client.ts";
import { asTask, resultOf, sendRequest } from "../support/sdk-v1.ts";
import { SETTINGS, serve, tempFolder } from "../support/server.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const DEFAULT = OPTIONS.port.default;
const PLACES = { data: ":memory:", signCards: false };

/** Another program on the port; undefined: a program outside of this test already uses it. */
async function occupy(port: number, host?: string): Promise<Server | undefined> {
  const server = createServer(socket => socket.end("220 this is not an agent\r\n"));
  const taken = await new Promise<boolean>(resolve => {
    server.once("error", () => resolve(false));
    server.listen({ port, host, ipv6Only: host === "::1" }, () => resolve(true));
  });
  return taken ? server : undefined;
}

const portOf = (server: Server | undefined): number => ((server as Server).address() as AddressInfo).port;

let other: Server | undefined;
let folder: ReturnType<typeof tempFolder>;
const children = new Map<ChildProcess, Promise<unknown>>();
const closers: (() => unknown)[] = [];
beforeAll(async () => {
  other = await occupy(DEFAULT);
});
afterAll(() => void other?.close());
beforeEach(() => {
  folder = tempFolder();
});
afterEach(async () => {
  for (const child of children.keys()) child.kill("SIGKILL");
  await Promise.all(children.values());
  children.clear();
  for (const close of closers.splice(0).reverse()) await close();
  folder.remove();
});

/**
 * The program as `npm start` and `npm run dev` run it: without a port. Resolves when it is ready or has
 * exited.
 */
async function start(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder.path,
    env: { ...process.env, NODE_OPTIONS: "", DRAGOMAN_PORT: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", text => (output.out += text));
  child.stderr.setEncoding("utf8").on("data", text => (output.err += text));
  const code = once(child, "close").then(([number]) => number as number | null);
  children.set(child, code);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  await until(() => output.out.endsWith("\n") || hasEnded(), 30_000);
  return { code: hasEnded() ? await code : undefined, ...output, output, child };
}

const FLAGS = ["--data", ":memory:"];
const urlsIn = (text: string): readonly URL[] =>
  [...text.matchAll(/https?:\/\/[\w.:[\]-]+/g)].map(([url]) => new URL(url));

describe.each(["serve", "dev"])("%s, while another program uses the default port", command => {
  it("prints so in the first line, and every printed URL works", async () => {
    const { out } = await start([command, ...FLAGS]);
    const [first = ""] = out.split("\n");
    const [, port] = /on port (\d+) \(port 2024 is in use; choose one with --port\)$/.exec(first) ?? [];
    expect(Number(port)).toBeGreaterThan(DEFAULT);
    expect(Number(port)).toBeLessThan(DEFAULT + 20);
    expect(new Set(urlsIn(out).map(url => url.port))).toEqual(new Set([port]));
    const [, call = ""] = /try +.* call (\S+)/.exec(out) ?? [];
    const client = await new ClientFactory().createFromUrl(call);
    expect(resultOf(asTask(await client.sendMessage(sendRequest("hello"))))).toContain("hello");
    const [, url = "", headers = "", body = ""] = /curl -s (\S+) (.*) -d '(.*)'$/m.exec(out) ?? [];
    const pairs = [...headers.matchAll(/'([\w-]+): ([^']+)'/g)].map(([, name, value]) => [name, value]);
    const answer = await fetch(url, { method: "POST", headers: pairs as [string, string][], body });
    expect(await answer.text()).toContain('"TASK_STATE_COMPLETED"');
    const card = await (await fetch(`${call}/.well-known/agent-card.json`)).text();
    const targets = [
      ...urlsIn(card).map(one => one.port),
      ...[...card.matchAll(/"127\.0\.0\.1:(\d+)"/g)].map(([, one]) => one),
    ];
    expect(targets.length).toBeGreaterThan(5);
    expect(new Set(targets)).toEqual(new Set([port]));
  });
});

it("programs find the port in the JSON of the startup, and it is logged", async () => {
  const { out, output } = await start(["serve", ...FLAGS, "--json"]);
  const banner = JSON.parse(out);
  expect(banner.portInUse).toBe(DEFAULT);
  expect(Number(new URL(banner.url).port)).toBeGreaterThan(DEFAULT);
  expect(urlsIn(out).map(url => url.port)).not.toContain(String(DEFAULT));
  expect(output.err).toContain(`"url":"${banner.url}","portInUse":${DEFAULT}`);
});

it("two servers take two ports, and a port that was configured for gRPC is skipped", async () => {
  const first = JSON.parse((await start(["serve", ...FLAGS, "--json"])).out);
  const second = await start(["serve", ...FLAGS, "--json"]);
  const port = Number(new URL(JSON.parse(second.out).url).port);
  expect(port).not.toBe(Number(new URL(first.url).port));
  second.child.kill("SIGKILL");
  await children.get(second.child);
  const third = JSON.parse((await start(["serve", ...FLAGS, "--json", "--grpc-port", String(port)])).out);
  expect(third.grpc).toBe(`127.0.0.1:${port}`);
  expect(Number(new URL(third.url).port)).toBeGreaterThan(port);
});

describe("a configured port in use is refused, and the message has the remedy", () => {
  const refusal = `Port ${DEFAULT} is in use by another program. Choose another one with --port (with npm: npm start -- --port N), or stop that program.`;
  it("by flag", async () => {
    const { code, err, out } = await start(["serve", ...FLAGS, "--port", String(DEFAULT)]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(refusal);
  });
  it("by the environment", async () => {
    const { code, err } = await start(["dev", ...FLAGS], { DRAGOMAN_PORT: String(DEFAULT) });
    expect(code).toBe(1);
    expect(err).toContain(refusal);
  });
  it("by a config file", async () => {
    writeFileSync(join(folder.path, "dragoman.config.mjs"), `export default { port: ${DEFAULT} };\n`);
    const { code, err } = await start(["serve", ...FLAGS]);
    expect(code).toBe(1);
    expect(err).toContain(refusal);
  });
  it("for gRPC and for administrators, which have no default", async () => {
    for (const flag of ["--grpc-port", "--admin-port"]) {
      const { code, err } = await start(["serve", ...FLAGS, "--port", "0", flag, String(DEFAULT)]);
      expect(code).toBe(1);
      expect(err).toContain(`Choose another one with ${flag} (with npm: npm start -- ${flag} N)`);
    }
  });
});

it("a command that reaches the other program reports it", async () => {
  const server = await occupy(0, "127.0.0.1");
  closers.push(() => server?.close());
  const { code, err } = await start(["call", `http://127.0.0.1:${portOf(server)}`, "hello"]);
  expect(code).toBe(1);
  expect(err).toContain("Another program may use this port: a server prints its URL when it starts");
});

describe("in a program", () => {
  const echo = agent({ name: "echo", run: task => task.text });
  const preferring = (port: number, host: string) =>
    serve([echo], { port, host, portChosen: false, insecure: true });

  it("a config without a port is a preference, a config with one is a choice", async () => {
    expect((await toSettings(PLACES, "/", "test")).portChosen).toBe(false);
    expect((await toSettings({ ...PLACES, port: DEFAULT }, "/", "test")).portChosen).toBe(true);
  });

  /** The host of the other program, and the host of this server. */
  const FAMILIES = [
    ["127.0.0.1", "127.0.0.1"],
    ["0.0.0.0", "127.0.0.1"],
    ["127.0.0.1", "0.0.0.0"],
    ["::", "127.0.0.1"],
    ["127.0.0.1", "::"],
    ["0.0.0.0", "::"],
    ["127.0.0.1", "localhost"],
    ["::1", "localhost"],
    ["::1", "::"],
  ] as const;
  it.each(FAMILIES)("another program at %s, this server at %s", async (theirs, ours) => {
    const taken = await occupy(0, theirs);
    // A machine without IPv6 cannot run this case.
    if (!taken && theirs.includes(":")) return;
    closers.push(() => taken?.close());
    const port = portOf(taken);
    const server = await preferring(port, ours);
    closers.push(() => server.stop());
    expect(server.portInUse).toBe(port);
    expect(Number(new URL(server.url).port)).toBeGreaterThan(port);
    expect(server.log.lines.map(line => line.facts.portInUse)).toContain(port);
    await expect(serve([echo], { port, host: theirs, insecure: true })).rejects.toThrow(
      `Port ${port} is in use`,
    );
  });

  it("a free default port is used without a message", async () => {
    const free = await occupy(0, "127.0.0.1");
    const port = portOf(free);
    await new Promise(resolve => free?.close(resolve));
    const server = await preferring(port, "localhost");
    closers.push(() => server.stop());
    expect([server.url, server.portInUse]).toEqual([`http://localhost:${port}`, undefined]);
  });

  it("after 20 ports startup is refused", async () => {
    const first = await occupy(0, "127.0.0.1");
    closers.push(() => first?.close());
    const port = Math.min(portOf(first), 65_000);
    for (let next = port; next < port + 20; next++) {
      const server = await occupy(next, "127.0.0.1");
      closers.push(() => server?.close());
    }
    await expect(preferring(port, SETTINGS.host)).rejects.toThrow(
      `Ports ${port} to ${port + 19} are in use. Choose another one with --port`,
    );
  });
});
