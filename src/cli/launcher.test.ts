import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

/** bin/dragoman.cjs, in a copy of the package that contains only what a test puts there. */
const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
/** For `--require`: an old version of Node. */
const OLD_NODE = 'Object.defineProperty(process, "versions", { value: { node: "18.20.1" } });';
/** In place of the program: prints how it was started. */
const PRINT =
  "process.stdout.write(JSON.stringify([import.meta.url, process.execArgv, process.argv.slice(2)]));";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-launcher-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): string {
  const file = join(folder, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Puts the launcher below the folder; returns its path. */
function copyLauncher(below = ""): string {
  for (const name of ["package.json", "bin/dragoman.cjs", "bin/help"])
    cpSync(join(REPOSITORY, name), join(folder, below, name), { recursive: true });
  return join(folder, below, "bin/dragoman.cjs");
}

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

test("on a Node that is too old, one sentence says which one is needed", () => {
  write("dist/cli/main.js", "throw new SyntaxError('imported');");
  const { code, out, err } = run("--require", write("old.cjs", OLD_NODE), copyLauncher(), "call", "x");
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toBe(
    `Dragoman needs Node 22.19 or newer; this is Node 18.20.1 (${process.execPath}). Install one from https://nodejs.org.\n`,
  );
});

test("on a Node that is too old, a clone uses the Node of its packages", () => {
  write("src/cli/main.ts", PRINT);
  const node = write("node_modules/node/bin/node", '#!/bin/sh\nprintf "%s " bundled "$@"\nexit 7\n');
  chmodSync(node, 0o755);
  const launcher = copyLauncher();
  const old = write("old.cjs", OLD_NODE);
  expect(run("--require", old, launcher, "tasks", "x")).toEqual({
    code: 7,
    out: `bundled --require ${old} ${launcher} tasks x `,
    err: "",
  });
});

describe("help", () => {
  test.each([
    ["--help", /^Usage: npx dragoman /],
    ["serve --help", /^Usage: npx dragoman serve /],
    ["push redeliver -h", /^Usage: npx dragoman push redeliver /],
  ])("%s is printed without loading the program", (words, expected) => {
    const { code, out, err } = run(copyLauncher(), ...words.split(" "));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(expected);
  });

  test("is not printed for what is no command alone: the program decides", () => {
    write("src/cli/main.ts", PRINT);
    const launcher = copyLauncher();
    for (const words of [["nope"], ["call", "../serve"], ["serve", "agents"], ["call", "--", "x"]])
      expect(JSON.parse(run(launcher, ...words, "--help").out)[2]).toEqual([...words, "--help"]);
  });

  test("is not printed on a Node that is too old", () => {
    const { code, out } = run("--require", write("old.cjs", OLD_NODE), copyLauncher(), "--help");
    expect({ code, out }).toEqual({ code: 1, out: "" });
  });
});

describe("which program is started", () => {
  test("the sources in a clone, also beside a build that does not say of which", () => {
    const sources = write("src/cli/main.ts", PRINT);
    write("dist/cli/main.js", "");
    expect(JSON.parse(run(copyLauncher(), "call", "x").out)).toEqual([
      `file://${sources}`,
      [],
      ["call", "x"],
    ]);
  });

  describe("a clone with a build", () => {
    let launcher: string;
    let main: string;
    let other: string;
    const started = (): string => JSON.parse(run(launcher, "call").out)[0];
    beforeEach(() => {
      main = write("src/cli/main.ts", PRINT);
      other = write("src/other.ts", "export const one = 1;");
      launcher = copyLauncher();
      write("dist/cli/main.js", PRINT);
      const inputs = ["src/cli/main.ts", "src/other.ts"].map(name => {
        const file = join(folder, name);
        const sha256 = createHash("sha256").update(readFileSync(file)).digest("hex");
        return [name, { mtimeMs: statSync(file).mtimeMs, sha256 }];
      });
      write("dist/inputs.json", JSON.stringify(Object.fromEntries(inputs)));
    });

    test("the build, while it has the content of the sources", () => {
      expect(started()).toBe(`file://${join(folder, "dist/cli/main.js")}`);
      // As after a copy of the folder.
      utimesSync(other, 1, 1);
      expect(started()).toBe(`file://${join(folder, "dist/cli/main.js")}`);
    });

    test("the sources when one of them has another content", () => {
      writeFileSync(other, "export const one = 2;");
      expect(started()).toBe(`file://${main}`);
    });

    test("the sources when one of them is gone", () => {
      rmSync(other);
      expect(started()).toBe(`file://${main}`);
    });

    test("the sources when the build has not been finished", () => {
      write("dist/inputs.json", '{"src/cli/main.ts":');
      expect(started()).toBe(`file://${main}`);
    });
  });

  test("the build where the package is installed, also beside its sources", () => {
    write("node_modules/dragoman/src/cli/main.ts", "");
    const build = write("node_modules/dragoman/dist/cli/main.js", PRINT);
    const { out } = run(copyLauncher("node_modules/dragoman"), "call");
    expect(JSON.parse(out)).toEqual([`file://${build}`, [], ["call"]]);
  });

  test("neither is there", () => {
    const { code, err } = run(copyLauncher(), "call");
    expect(code).toBe(1);
    expect(err).toBe(`${join(folder, "dist/cli/main.js")} is missing: run "npm run build" in ${folder}.\n`);
  });

  test.each(["serve", "dev"])("%s gets the size of its heap's young generation", name => {
    write("src/cli/main.ts", PRINT);
    const launcher = copyLauncher();
    const flag = "--max-semi-space-size=16";
    expect(JSON.parse(run(launcher, name, "a b").out).slice(1)).toEqual([[flag], [name, "a b"]]);
    expect(JSON.parse(run(launcher, name, "x", "--help").out).slice(1)).toEqual([[], [name, "x", "--help"]]);
    const other = "--max-semi-space-size=4";
    expect(JSON.parse(run(other, launcher, name).out).slice(1)).toEqual([[other], [name]]);
  });
});

test("a server that npm started stops when the shell of npm has ended", async () => {
  const stopped = join(folder, "stopped");
  write(
    "src/cli/main.ts",
    `import { writeFileSync } from "node:fs";
    process.on("SIGTERM", () => { writeFileSync(${JSON.stringify(stopped)}, ""); process.exit(); });
    setInterval(() => {}, 1000);
    process.stdout.write("ready");`,
  );
  const command = `${process.execPath} ${copyLauncher()} serve; true`;
  const env = { ...process.env, npm_command: "exec" };
  const shell = spawn("sh", ["-c", command], { env, stdio: ["ignore", "pipe", "ignore"] });
  await once(shell.stdout, "data");
  shell.kill("SIGTERM");
  for (let tries = 0; tries < 3_000 && !existsSync(stopped); tries++) await sleep(10);
  expect(existsSync(stopped)).toBe(true);
});
