/** A clone with a build, as `npm ci` makes it: bin/dragoman.cjs runs the bundle while it is that of the sources. */
import { spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Child, endChildren, startChild } from "../support/child.ts";
import { type Ended, runProgram } from "../support/cli.ts";
import { rpcResult, V1 } from "../support/official-dialects.ts";
import { tempFolder } from "../support/server.ts";
import { ROOT } from "../support/tidy-tree.ts";

const folder = tempFolder();
const clone = join(realpathSync(folder.path), "clone");
const program = join(clone, "bin/dragoman.cjs");
const data = join(folder.path, "data");

beforeAll(() => {
  mkdirSync(clone);
  for (const name of ["package.json", "bin", "src", "scripts", "examples", "docs", "web"])
    cpSync(join(ROOT, name), join(clone, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(clone, "node_modules"));
  bundle();
});
afterEach(async () => {
  await endChildren();
  rmSync(data, { recursive: true, force: true });
});
afterAll(() => folder.remove());

function bundle(): void {
  const { status, stderr } = spawnSync(process.execPath, [join(clone, "scripts/bundle.ts")]);
  expect(String(stderr)).toBe("");
  expect(status).toBe(0);
}

const launch = (agents: readonly string[] = []): Promise<Child> =>
  startChild({ program, agents, data, flags: ["--log-level", "error"] });
const run = (...args: readonly string[]): Promise<Ended> => runProgram(program, ...args);
const answerOf = async (url: string, agent: string, text: string): Promise<string> => {
  const { task } = await rpcResult(`${url}/agents/${agent}`, "SendMessage", V1.sendParams(text));
  return task.artifacts[0].parts[0].text;
};

test("the bundle serves the examples, and its commands start their threads", async () => {
  const { url } = await launch();
  expect(await answerOf(url, "echo", "hello")).toBe("You said: hello");
  expect((await run("call", `${url}/agents/echo`, "hello")).out).toBe("You said: hello\n");
  const target = join(folder.path, "copy.db");
  expect(await run("backup", target, "--data", data)).toMatchObject({ code: 0 });
  expect(await run("doctor", "--data", data)).toMatchObject({ code: 0 });
});

test("a bundle that is written again never lacks a file, nor part of one", async () => {
  const chunks = join(clone, "dist/chunks");
  const read = (): readonly string[] =>
    readdirSync(chunks).map(name => `${name}\n${readFileSync(join(chunks, name), "utf8")}`);
  const before = read();
  const writers = [1, 2].map(() => spawn(process.execPath, [join(clone, "scripts/bundle.ts")]));
  const isOver = (): boolean => writers.every(({ exitCode }) => exitCode !== null);
  do {
    // Not `toEqual`: a difference would print megabytes.
    expect(read().every((chunk, i) => chunk === before[i])).toBe(true);
    await new Promise(resolve => setImmediate(resolve));
  } while (!isOver());
  expect(writers.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
});

/** What a module and those that it imports import from packages and from Node. */
function packagesOf(file: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const text = readFileSync(file, "utf8");
  const names = [...text.matchAll(/^(?:import|export)\b[^;]*?"([^"]+)";$/gm)].map(
    found => found[1] as string,
  );
  const own = text.includes("getBuiltinModule") ? ["node:"] : [];
  return names.reduce(
    (found, name) => found.concat(name.startsWith(".") ? packagesOf(join(file, "..", name), seen) : [name]),
    own,
  );
}

test("what pages import from the bundle needs neither Node nor a package but React", () => {
  const needs = (name: string): readonly string[] => packagesOf(join(clone, "dist", name, "index.js"));
  expect(needs("client")).toEqual([]);
  expect(needs("webhook")).toEqual([]);
  expect(needs("react")).toEqual(["react"]);
  expect(needs("testing")).toContain("pino");
});

/** Says which file `dragoman` is for the agent, and whether it is one module. */
const AGENT = `import * as own from "dragoman";
import { agent } from "dragoman";
export default agent({
  name: "which",
  async run(task) {
    const url = import.meta.resolve("dragoman");
    return url + " " + (own === (await import(url)) && own.agent === (await import(task.text)).agent);
  },
});
`;

test("an agent file imports the modules that the server runs, also after an edit of the sources", async () => {
  const file = join(folder.path, "which.ts");
  writeFileSync(file, AGENT);
  const ask = async (entry: string): Promise<string> => {
    const { url, stop } = await launch([file]);
    const answer = await answerOf(url, "which", entry);
    await stop();
    return answer;
  };
  const built = pathToFileURL(join(clone, "dist/index.js")).href;
  const source = pathToFileURL(join(clone, "src/index.ts")).href;
  expect(await ask(built)).toBe(`${built} true`);
  appendFileSync(join(clone, "src/lib/json.ts"), "\n");
  expect(await ask(source)).toBe(`${source} true`);
  expect(await run("doctor", "--data", data)).toMatchObject({ code: 0 });
  bundle();
  expect(await ask(built)).toBe(`${built} true`);
});
