import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

/** The program in processes of its own: start, signals, reload, resume. */
const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));

interface Program {
  readonly child: ChildProcess;
  readonly written: { out: string; err: string };
  readonly code: Promise<number | null>;
}

let folder: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "dragoman-cli-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

function start(...args: readonly string[]): Program {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  const written = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", text => {
    written.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", text => {
    written.err += text;
  });
  return { child, written, code: once(child, "close").then(([code]) => code as number | null) };
}

async function until(program: Program, isDone: () => boolean): Promise<void> {
  for (let tries = 0; tries < 6_000 && !isDone(); tries++) await sleep(10);
  if (!isDone()) throw new Error(`The condition was not met. ${JSON.stringify(program.written)}`);
}

/** A server that has printed its URL. */
async function startServer(...args: readonly string[]): Promise<Program & { url: string }> {
  const program = start(...args, "--json");
  await until(program, () => program.written.out.includes("\n"));
  const { url } = JSON.parse(program.written.out.split("\n")[0] as string) as { url: string };
  return { ...program, url };
}

async function runToEnd(...args: readonly string[]) {
  const program = start(...args);
  return { code: await program.code, ...program.written };
}

/** Processes are slow on a busy machine. */
const slowTest = (name: string, run: () => Promise<void>) => test(name, { timeout: 180_000 }, run);

const AGENT = (name: string, body: string) => `
export default { name: "${name}", async *run(task, ctx) { ${body} } };`;
/** Sends two numbers, and the others once the file "open" exists. */
const slow = (): string => `const { existsSync } = await import("node:fs");
  for (let n = 1; n <= Number(task.text); n++) {
    yield ctx.text(n + " ");
    while (n === 2 && !existsSync(${JSON.stringify(join(folder, "open"))}))
      await new Promise(resolve => setTimeout(resolve, 10));
  }`;
const open = (): Promise<void> => writeFile(join(folder, "open"), "");

slowTest("a server starts, is called, and ends at SIGTERM with exit code 0", async () => {
  await writeFile(join(folder, "hello.ts"), AGENT("hello", "yield ctx.text('Hello ' + task.text)"));
  const server = await startServer("serve", "hello.ts", "--port", "0", "--data", ":memory:");
  expect(await runToEnd("call", server.url, "world")).toMatchObject({ code: 0, out: "Hello world\n" });
  // It has no data folder: commands find it by the folder in which it was started.
  expect(await runToEnd("call", "Ada")).toMatchObject({ code: 0, out: "Hello Ada\n" });
  server.child.kill("SIGTERM");
  expect(await server.code).toBe(0);
  expect(server.written.err).toBe("stopping; press Ctrl-C again to stop now\nstopped\n");
});

slowTest("runs finish before the server stops, and their callers get the whole response", async () => {
  await writeFile(join(folder, "slow.ts"), AGENT("slow", slow()));
  const server = await startServer("serve", "slow.ts", "--port", "0", "--data", "tasks");
  const call = start("call", server.url, "12");
  await until(call, () => call.written.out.startsWith("1 2 "));
  server.child.kill("SIGINT");
  await until(server, () => server.written.err.includes("finishing 1 run; press Ctrl-C again to stop now\n"));
  await open();
  expect(await server.code).toBe(0);
  expect(await call.code).toBe(0);
  expect(call.written.out).toBe("1 2 3 4 5 6 7 8 9 10 11 12 \n");
});

slowTest("a second signal ends the server at once, with exit code 130", async () => {
  await writeFile(join(folder, "slow.ts"), AGENT("slow", slow()));
  const server = await startServer("serve", "slow.ts", "--port", "0", "--data", ":memory:");
  const call = start("call", server.url, "200");
  await until(call, () => call.written.out !== "");
  server.child.kill("SIGINT");
  await until(server, () => server.written.err.includes("finishing 1 run"));
  server.child.kill("SIGINT");
  expect(await server.code).toBe(130);
});

slowTest("the first Ctrl-C of a caller leaves the task running, and tail follows it to the end", async () => {
  await writeFile(join(folder, "slow.ts"), AGENT("slow", slow()));
  const server = await startServer("serve", "slow.ts", "--port", "0", "--data", ":memory:");
  const call = start("call", server.url, "9");
  await until(call, () => call.written.out.startsWith("1 2 "));
  call.child.kill("SIGINT");
  expect(await call.code).toBe(130);
  const [, task = ""] = /task (\S+) is still running/.exec(call.written.err) ?? [];
  const tail = start("tail", server.url, task);
  await until(tail, () => tail.written.out.startsWith("1 2 "));
  await open();
  expect([await tail.code, tail.written.out]).toEqual([0, "1 2 3 4 5 6 7 8 9 \n"]);
});

slowTest("a call outlives a server that is killed and started again", async () => {
  await writeFile(join(folder, "slow.ts"), AGENT("slow", slow()));
  const server = await startServer("serve", "slow.ts", "--port", "0", "--data", "tasks");
  const call = start("call", server.url, "10");
  await until(call, () => call.written.out.startsWith("1 2 "));
  server.child.kill("SIGKILL");
  await server.code;
  await open();
  await startServer("serve", "slow.ts", "--port", new URL(server.url).port, "--data", "tasks");
  expect(await call.code).toBe(0);
  expect(call.written.out).toMatch(/1 2 3 4 5 6 7 8 9 10 \n$/);
  expect(call.written.err).toContain("the stream was lost");
});

slowTest("dev loads changed agents, keeps them if a change is broken, and keeps the tasks", async () => {
  const file = join(folder, "agent.ts");
  await writeFile(file, AGENT("one", "yield 'first'"));
  const server = await startServer("dev", "agent.ts", "--port", "0", "--data", "tasks");
  expect((await runToEnd("call", server.url, "x")).out).toBe("first\n");
  await writeFile(file, AGENT("one", "yield 'second'"));
  await until(server, () => server.written.out.includes('"reloaded":true'));
  expect((await runToEnd("call", server.url, "x")).out).toBe("second\n");
  await writeFile(file, "export default 5 +;");
  await until(server, () =>
    server.written.err.includes("not reloaded; the previous agents are still served"),
  );
  expect(server.written.err).toContain(`Cannot load ${file}:1`);
  expect((await runToEnd("call", server.url, "x")).out).toBe("second\n");
  const tasks = await runToEnd("tasks", server.url, "--json");
  expect(tasks.out.trimEnd().split("\n")).toHaveLength(3);
});

slowTest("a server that cannot start prints one message, without a stack", async () => {
  await writeFile(join(folder, "hello.ts"), AGENT("hello", "yield 'hi'"));
  const { url } = await startServer("serve", "hello.ts", "--port", "0", "--data", "tasks");
  const starts = await Promise.all([
    runToEnd("serve", "hello.ts", "--data", ":memory:", "--port", new URL(url).port),
    runToEnd("serve", "hello.ts", "--data", "tasks", "--port", "0"),
    runToEnd("serve", "nope.ts", "--data", ":memory:"),
    runToEnd("serve", "hello.ts", "--default", "nope", "--data", ":memory:"),
    runToEnd("serve", "hello.ts", "--port", "many"),
  ]);
  for (const { code, out, err } of starts) {
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^error: /);
    expect(err).not.toMatch(/^ {4}at /m);
  }
  const [port, data, file, fallback, option] = starts.map(({ err }) => err);
  expect(port).toContain("is in use");
  expect(data).toContain("in use by another");
  expect(file).toContain("File not found");
  expect(fallback).toContain('The default agent "nope" does not exist. Choose one of: hello');
  expect(option).toContain('port: expected a whole number from 0 to 65535, got "many" (from --port)');
});

slowTest("an unhandled rejection in an agent does not end the server", async () => {
  const stray = "Promise.reject(new Error('forgotten')); yield 'fine'";
  await writeFile(join(folder, "stray.ts"), AGENT("stray", stray));
  const server = await startServer("serve", "stray.ts", "--port", "0", "--data", ":memory:");
  expect((await runToEnd("call", server.url, "x")).out).toBe("fine\n");
  expect((await runToEnd("call", server.url, "x")).out).toBe("fine\n");
  expect(server.written.err).toContain("forgotten");
});
