import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeException } from "./development.ts";

/** `dev` without arguments, in a folder with the folder `agents`. */
const LAUNCHER = fileURLToPath(new URL("../../../bin/dragoman.cjs", import.meta.url));
const AGENTS = {
  "fine.ts": 'export default (task: { text: string }) => "You said " + task.text;\n',
  "thrower.ts": `function deep(value: any) {
  return value.missing.member;
}
export default (): string => deep({});
`,
  "stray.ts": `export default async () => {
  setTimeout(() => {
    throw new RangeError("in a timer");
  }, 10);
  await new Promise(() => undefined);
};
`,
  "invalid.ts": "export default () => ({ nope: true });\n",
};

let folder: string;
let server: ChildProcess;
let out = "";
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-dev-")));
  mkdirSync(join(folder, "agents"));
  for (const [name, text] of Object.entries(AGENTS)) writeFileSync(join(folder, "agents", name), text);
  server = spawn(process.execPath, [LAUNCHER, "dev", "--port", "0"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  server.stdout?.setEncoding("utf8").on("data", text => (out += text));
  await until("Watching for changes");
});
afterAll(async () => {
  server.kill("SIGKILL");
  await once(server, "close");
  rmSync(folder, { recursive: true });
});

async function until(text: string | RegExp): Promise<void> {
  for (let tries = 0; tries < 6_000 && !out.match(text); tries++) await sleep(10);
  expect(out).toMatch(text);
}

async function call(agent: string, text = "hi") {
  const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(out) ?? [];
  const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text }] };
  const response = await fetch(`${url}/agents/${agent}`, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
  });
  return JSON.stringify(await response.json());
}

test("it says which agents it serves and why", () => {
  expect(out).toContain("serving   the files in agents/, found in this folder\n");
});

test("each call and each run is a line", async () => {
  expect(await call("fine")).toContain("You said hi");
  await until(/^\d\d:\d\d:\d\d run {2}fine +completed +\d+ ms {2}[\w-]{36}$/m);
  await until(/^\d\d:\d\d:\d\d call fine +completed +\d+ ms {2}send A2A 1\.0 JSON-RPC {2}[\w-]{36}$/m);
});

test("an exception is shown with file and line, to the author and to the caller", async () => {
  const message =
    "TypeError: Cannot read properties of undefined (reading 'member') (agents/thrower.ts:2:24)";
  expect(await call("thrower")).toContain(`The agent failed: ${message}`);
  await until(/ run {2}thrower +failed /);
  expect(out).toContain(`         ${message}\n           at agents/thrower.ts:4:`);
});

test("a throw in a timer ends its run and not the server", async () => {
  expect(await call("stray")).toContain("The agent failed: RangeError: in a timer (agents/stray.ts:3:11)");
  await until(/ run {2}stray +failed /);
  expect(await call("fine", "still here")).toContain("You said still here");
});

test("invalid output is shown as well", async () => {
  expect(await call("invalid")).toContain("it yielded an object with the keys nope");
  await until(/ run {2}invalid +failed .*\n +TypeError: An agent may yield strings/);
});

test("a refused call has its reason", async () => {
  expect(await call("nope")).toContain("not found");
  await until(/ call nope +agent-not-found .* Agent "nope" not found; available: fine, /);
});

test("anything can be thrown", () => {
  expect(describeException(undefined, "/")).toBe("undefined was thrown");
  expect(describeException(new Error("a\nb"), "/")).toMatch(/^Error: a b/);
});
