/** The applications of docs/guide/nextjs.md and docs/guide/nestjs.md, built and started with the packages of their frameworks. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openStream, rpc, sendParams, until } from "../support/client.ts";
import { BLOCKS, type Block } from "../support/documents/blocks.ts";
import { writeBlock } from "../support/documents/project.ts";
import { findPort } from "../support/documents/shell.ts";
import { tempFolder } from "../support/server.ts";
import { ROOT } from "../support/tidy-tree.ts";
import { installPackages } from "./install.ts";
import { packInto } from "./packed.ts";

const PINO = JSON.parse(readFileSync(join(ROOT, "node_modules/pino/package.json"), "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

const folders: ReturnType<typeof tempFolder>[] = [];
const started: ChildProcess[] = [];
afterEach(async () => {
  for (const child of started.splice(0))
    if (child.exitCode === null && child.kill("SIGKILL")) await once(child, "close");
  for (const folder of folders.splice(0)) folder.remove();
});

/** A folder with the files of a page, the packages of a framework and the packed Dragoman. */
function createProject(page: string, installed: string): string {
  const folder = tempFolder();
  folders.push(folder);
  for (const block of BLOCKS.filter(one => one.page === page && one.file !== undefined))
    writeBlock(folder.path, block);
  writeFileSync(join(folder.path, "package.json"), JSON.stringify({ private: true, type: "module" }));
  // Copied: a bundler compiles no application inside of node_modules, and follows no link out of it.
  const modules = join(folder.path, "node_modules");
  cpSync(join(installed, "node_modules"), modules, { recursive: true, verbatimSymlinks: true });
  const packed = join(folder.path, "packed");
  execFileSync("tar", ["-xf", packInto(packed), "-C", packed]);
  cpSync(join(packed, "package"), join(modules, "dragoman"), { recursive: true });
  rmSync(packed, { recursive: true });
  for (const name of ["commander", "jose", "pino", "undici", "zod", "@opentelemetry/api"])
    if (!existsSync(join(modules, name)))
      cpSync(join(ROOT, "node_modules", name), join(modules, name), { recursive: true });
  for (const name of Object.keys(PINO.dependencies))
    if (!existsSync(join(modules, name)))
      cpSync(join(ROOT, "node_modules", name), join(modules, name), { recursive: true });
  return folder.path;
}

function start(folder: string, args: readonly string[]): { output(): string; child: ChildProcess } {
  const env = { ...process.env, NODE_OPTIONS: "", NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", more => (text += more));
  return { output: () => text, child };
}

async function greets(url: string): Promise<void> {
  for (const address of [url, `${url}/agents/hello`]) {
    const { body } = await rpc(address, "SendMessage", sendParams("Ada"));
    expect(JSON.stringify(body.result.task.artifacts)).toContain("Hello, Ada!");
  }
  const stream = await openStream(url, "SendStreamingMessage", sendParams("Ada"));
  expect((await stream.all()).at(-1)?.data.result.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
}

const answers = (url: string, child: ChildProcess) =>
  until(
    async () =>
      child.exitCode !== null ||
      (await fetch(url).then(
        () => true,
        () => false,
      )),
  );

const next = installPackages("next", [
  "next@16.4.6",
  "react@19.3.1",
  "react-dom@19.3.1",
  // Next.js would install these by itself during the build.
  "typescript@6.0.3",
  "@types/react@19.3.0",
  "@types/node@26.6.6",
]);

describe.skipIf(next === undefined)("Next.js", () => {
  it("is built and started with the files of the page, and the agent answers", async () => {
    const folder = createProject("docs/guide/nextjs.md", next as string);
    rmSync(join(folder, "next.config.mjs"));
    mkdirSync(join(folder, "app"), { recursive: true });
    writeFileSync(
      join(folder, "app/layout.js"),
      "export default ({ children }) => <html><body>{children}</body></html>;\n",
    );
    writeFileSync(join(folder, "app/page.js"), "export default () => <p>hello</p>;\n");
    const bin = join(folder, "node_modules/next/dist/bin/next");
    const build = start(folder, [bin, "build"]);
    await once(build.child, "close");
    expect(build.child.exitCode, build.output()).toBe(0);
    expect(existsSync(join(folder, ".dragoman"))).toBe(false);

    const port = await findPort();
    const { child, output } = start(folder, [bin, "start", "--port", String(port)]);
    await answers(`http://localhost:${port}/`, child);
    expect(child.exitCode, output()).toBeNull();
    await greets(`http://localhost:${port}/a2a`);
    const card = await (await fetch(`http://localhost:${port}/.well-known/agent-card.json`)).text();
    expect(card).toContain("http://localhost:3000/a2a/agents/hello");
  }, 600_000);
});

const nest = installPackages("nest", [
  "@nestjs/core@12.5.0",
  "@nestjs/common@12.5.0",
  "@nestjs/platform-express@12.5.0",
  "reflect-metadata@0.2.2",
  "rxjs@7.8.2",
]);

describe.skipIf(nest === undefined)("NestJS", () => {
  it("is compiled and started with the file of the page, the agent answers, and a signal stops it", async () => {
    const folder = createProject("docs/guide/nestjs.md", nest as string);
    const compilerOptions = {
      strict: true,
      target: "es2024",
      module: "nodenext",
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      skipLibCheck: true,
      types: [],
      outDir: "dist",
      rootDir: "src",
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
    execFileSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", folder], { stdio: "pipe" });
    const preload = new URL("../support/documents/free-ports.mjs", import.meta.url).href;
    const { child, output } = start(folder, ["--import", preload, "dist/main.js"]);
    await until(() => /listening 3000 \d+/.test(output()) || child.exitCode !== null);
    expect(child.exitCode, output()).toBeNull();
    await greets(`http://127.0.0.1:${/listening 3000 (\d+)/.exec(output())?.[1]}/a2a`);
    child.kill("SIGTERM");
    await once(child, "close");
    expect(output()).not.toMatch(/Error/);
  }, 600_000);
});

const react = installPackages("react", [
  "@ai-sdk/react@4.0.167",
  "ai@7.0.163",
  "react@19.3.1",
  "@types/react@19.3.0",
]);

describe.skipIf(react === undefined)("React", () => {
  it("useChat: the component of the page passes the compiler", () => {
    const block = BLOCKS.find(one => one.page === "docs/guide/front-ends.md" && one.file === "chat.tsx");
    const file = writeBlock(react as string, block as Block);
    const flags = ["--noEmit", "--strict", "--jsx", "react-jsx", "--module", "esnext"];
    const tsc = [...flags, "--moduleResolution", "bundler", "--skipLibCheck", "--ignoreConfig", file];
    expect(spawnSync(join(ROOT, "node_modules/.bin/tsc"), tsc).stdout.toString()).toBe("");
  });
});
