import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-installed-")));
  const folder = join(root, "node_modules/dragoman");
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "examples"])
    cpSync(join(REPOSITORY, name), join(folder, name), { recursive: true });
  for (const name of ["zod", "pino", "commander"])
    symlinkSync(join(REPOSITORY, "node_modules", name), join(root, "node_modules", name));
  spawnSync(process.execPath, ["scripts/bundle.ts", join(folder, "dist")], { cwd: REPOSITORY });
});
afterAll(() => rmSync(root, { recursive: true }));

test("the built and installed server finds its examples, although Node strips no types in node_modules", async () => {
  const command = [
    "node_modules/dragoman/dist/cli/main.js",
    "serve",
    "--data",
    ":memory:",
    "--port",
    "0",
    "--json",
  ];
  const server = spawn(process.execPath, command, { cwd: root });
  const [text] = await once(server.stdout, "data");
  server.kill();
  const { agents } = JSON.parse(text) as { readonly agents: readonly { readonly name: string }[] };
  expect(agents.map(agent => agent.name).join(" ")).toBe("echo booking countdown reporter research slow");
});
