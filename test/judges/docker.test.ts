/** The steps of docs/operate/Dockerfile, executed in order in a folder instead of an image. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rpc, sendParams, until } from "../support/client.ts";
import { findPort } from "../support/documents/shell.ts";
import { tempFolder } from "../support/server.ts";
import { ROOT } from "../support/tidy-tree.ts";
import { packInto } from "./packed.ts";

interface Step {
  readonly name: string;
  readonly text: string;
}

const STEPS: readonly Step[] = readFileSync(join(ROOT, "docs/operate/Dockerfile"), "utf8")
  .split("\n")
  .filter(line => line !== "" && !line.startsWith("#"))
  .map(line => ({ name: line.split(" ")[0] as string, text: line.replace(/^\S+ /, "") }));
const stepOf = (name: string): string => STEPS.find(step => step.name === name)?.text as string;

/** `["a", "b"]`: a program and its arguments, without a shell. */
const wordsOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf("[")));

const folder = tempFolder();
const context = join(folder.path, "context");
const image = join(folder.path, "image");
const workdir = join(image, stepOf("WORKDIR"));

/** The reader's folder: an agent, and a package.json that depends on the archive. */
function createContext(): void {
  mkdirSync(join(context, "agents"), { recursive: true });
  writeFileSync(
    join(context, "agents/hello.ts"),
    'export default (task: { text: string }) => "Hello, " + task.text;\n',
  );
  const archive = basename(packInto(context));
  const manifest = { private: true, type: "module", dependencies: { dragoman: `file:${archive}` } };
  writeFileSync(join(context, "package.json"), JSON.stringify(manifest));
  execFileSync("npm", ["install", "--package-lock-only", "--no-audit", "--loglevel=error"], {
    cwd: context,
    stdio: "pipe",
  });
}

function executeStep({ name, text }: Step): void {
  if (name === "COPY") {
    const words = text.split(" ");
    const target = join(workdir, words.at(-1) as string);
    for (const source of words.slice(0, -1).flatMap(pattern => globSync(pattern, { cwd: context })))
      cpSync(join(context, source), words.length > 2 ? join(target, source) : target, { recursive: true });
  }
  if (name === "RUN") {
    const script = text.replaceAll("/data", join(image, "data")).replace("node:node", "$(id -u):$(id -g)");
    execFileSync("bash", ["-ec", script], { cwd: workdir, stdio: "pipe" });
  }
}

let isBuilt = true;
let ports: Readonly<Record<string, string>>;
let container: ChildProcess;
let log = "";
const place = (word: string): string => {
  const at = word.replace(/^\/data\b/, join(image, "data")).replace(/^0\.0\.0\.0$/, "127.0.0.1");
  return at.replaceAll(/\b(?:2024|9464)\b/g, port => ports[port] as string);
};
const env = {
  ...process.env,
  ...Object.fromEntries(
    stepOf("ENV")
      .split(" ")
      .map(one => one.split(/=(.*)/).slice(0, 2)),
  ),
};

beforeAll(async () => {
  ports = { 2024: String(await findPort()), 9464: String(await findPort()) };
  mkdirSync(workdir, { recursive: true });
  try {
    createContext();
    for (const step of STEPS) executeStep(step);
  } catch (error) {
    isBuilt = false;
    process.stderr.write(`SKIPPED: the steps of the Dockerfile could not be executed: ${String(error)}\n`);
    return;
  }
  const [program = "", ...args] = [...wordsOf(stepOf("ENTRYPOINT")), ...wordsOf(stepOf("CMD"))].map(place);
  container = spawn(join(workdir, program), args, { cwd: workdir, env, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [container.stdout, container.stderr]) stream?.on("data", text => (log += text));
  await until(() => / ready in /.test(log) || container.exitCode !== null);
}, 900_000);
afterAll(async () => {
  if (container?.exitCode === null && container.kill("SIGKILL")) await once(container, "close");
  folder.remove();
});

describe("the Dockerfile", () => {
  it("makes a server that is healthy, needs a token, and answers", async test => {
    if (!isBuilt) return test.skip();
    expect(container.exitCode, log).toBeNull();
    const [node = "", ...health] = wordsOf(stepOf("HEALTHCHECK")).map(place);
    execFileSync(node === "node" ? process.execPath : node, health, { env });

    const url = `http://127.0.0.1:${ports[2024]}`;
    expect((await rpc(url, "SendMessage", sendParams("Ada"))).status).toBe(401);
    const create = ["token", "create", "--data", "/data", "--principal", "alice", "--json"].map(place);
    const made = execFileSync("node_modules/.bin/dragoman", create, { cwd: workdir, env }).toString();
    const token = /drg_[\w-]+/.exec(made)?.[0] as string;
    const { body } = await rpc(url, "SendMessage", sendParams("Ada"), { authorization: `Bearer ${token}` });
    expect(JSON.stringify(body.result.task.artifacts)).toContain("Hello, Ada");
  });

  it("stops on its signal, with its tasks in the volume", async test => {
    if (!isBuilt) return test.skip();
    const ended = once(container, "close");
    container.kill(stepOf("STOPSIGNAL") as NodeJS.Signals);
    expect(await ended).toEqual([0, null]);
    const found = execFileSync("node_modules/.bin/dragoman", ["doctor", "--data", place("/data")], {
      cwd: workdir,
      env,
    });
    expect(found.toString()).toContain("no problems found");
  });
});
