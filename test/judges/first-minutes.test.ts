/** The packed package as a stranger uses it: installed into an empty folder, a project of each template, the demonstration. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEMPLATE_NAMES } from "../../src/cli/init/templates.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
/** npm and the programs that it starts use the Node of these tests. */
const ENV = {
  ...process.env,
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  NODE_OPTIONS: "",
  npm_config_loglevel: "error",
};
/** The agent of each template, a message to it, and the output of the call. The model of `openai` is not there. */
const CALLS: Readonly<Record<string, readonly [agent: string, text: string, output: RegExp]>> = {
  function: ["hello", "Ada", /^Hello, Ada!\n$/],
  langgraph: ["planner", "A weekend in Lisbon, please", /Shall I book this\?/],
  "ai-sdk": ["travel", "How is the weather in Oslo?", /It is sunny in Oslo\.\n$/],
  openai: ["chat", "hello", /^$/],
  python: ["letters", "to count", /^to has 2 letters\. count has 5 letters\. \n/],
  mcp: ["planner", "2999-12-31", /^\d+ days until 2999-12-31\n$/],
};

const folder = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-first-")));
let tarball = "";
let other: Server | undefined;
const run = (cwd: string, command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { cwd, env: ENV, encoding: "utf8", timeout: 300_000 });

/** The last line is the name of the archive: the build prints lines, too. */
const pack = (place: string): string => {
  const out = run(REPOSITORY, "npm", "pack", place, "--silent", "--pack-destination", folder);
  return join(folder, out.trim().split("\n").at(-1) as string);
};

/** Without packages from a registry these tests say so and are skipped. */
const hasRegistry =
  spawnSync("npm", ["view", "typescript", "version"], { env: ENV, timeout: 60_000 }).status === 0;
if (!hasRegistry)
  process.stderr.write("SKIPPED: the packed package cannot be installed without a registry\n");

beforeAll(async () => {
  if (!hasRegistry) return;
  tarball = pack(".");
  // The default port is taken, as on the machine of a stranger.
  other = createServer().listen(2024, "127.0.0.1");
  other.on("error", () => undefined);
}, 300_000);
afterAll(() => {
  other?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Serves a project without arguments on the next free port, and calls its agent. */
async function serveAndCall(project: string, agent: string, text: string): Promise<string> {
  const server = spawn("npx", ["dragoman", "serve", "--json", "--data", ":memory:"], {
    cwd: project,
    env: ENV,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const first = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next();
    const { url, agents } = JSON.parse(first.value ?? "{}") as { url: string; agents: { name: string }[] };
    expect(agents.map(one => one.name)).toContain(agent);
    expect(new URL(url).port).not.toBe("2024");
    const args = ["dragoman", "call", url, "--agent", agent, text];
    return spawnSync("npx", args, { cwd: project, env: ENV, encoding: "utf8" }).stdout;
  } finally {
    // npx and its shell end; the server follows.
    server.kill("SIGTERM");
    await once(server, "exit");
  }
}

/** The texts of a project, without its name. */
const filesOf = (project: string, name: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(project, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ parentPath, name: file }) => join(parentPath, file))
      .map(file => [file.slice(project.length + 1), readFileSync(file, "utf8").replaceAll(name, "NAME")]),
  );

describe.skipIf(!hasRegistry).each(TEMPLATE_NAMES)("a project of the template %s", template => {
  const project = join(folder, template);

  it("is created in an empty folder that has the package, is type-checked, tested and served", async () => {
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), "{}");
    run(project, "npm", "install", "--no-audit", "--no-fund", tarball);
    expect(run(project, "npx", "dragoman", "init", "--template", template)).toContain("npm run dev");
    run(project, "npm", "install", "--no-audit", "--no-fund");
    run(project, "npm", "run", "check");
    expect(run(project, "npm", "test")).toMatch(/fail 0\b/);
    const [agent, text, output] = CALLS[template] as (typeof CALLS)[string];
    expect(await serveAndCall(project, agent, text)).toMatch(output);
  }, 600_000);
});

describe.skipIf(!hasRegistry)("the packed package", () => {
  it("has types that are right without skipLibCheck", () => {
    const project = join(folder, "function");
    run(project, "npx", "tsc", "--noEmit", "--skipLibCheck", "false");
  });

  it("creates the same project with create-dragoman", () => {
    const project = join(folder, "created");
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), "{}");
    run(project, "npm", "install", "--no-audit", "--no-fund", tarball, pack("./create-dragoman"));
    run(project, "npx", "create-dragoman", "agent-1", "--template", "python");
    run(project, "npx", "dragoman", "init", "agent-2", "--template", "python");
    const [one, two] = ["agent-1", "agent-2"].map(name => filesOf(join(project, name), name));
    expect(one).toEqual(two);
    expect(Object.keys(one ?? {})).toContain("agent.py");
  });

  it("shows the demonstration, and everything that it shows is true", () => {
    const project = join(folder, "function");
    expect(JSON.parse(run(project, "npx", "dragoman", "demo", "--json"))).toMatchObject({ passed: true });
  });
});
