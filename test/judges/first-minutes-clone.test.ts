/** A clone as a stranger uses it, after `npm ci`: the scripts of npm, with the default port taken. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../support/client.ts";
import { BLOCKS } from "../support/documents/blocks.ts";
import { tempFolder } from "../support/server.ts";
import { ROOT } from "../support/tidy-tree.ts";

const folder = tempFolder();
let other: Server;
beforeAll(() => {
  // Where another program has the port already, it is as it should be.
  other = createServer()
    .on("error", () => undefined)
    .listen(2024, "127.0.0.1");
});
afterAll(() => {
  other.close();
  folder.remove();
});

const ENV = { ...process.env, NODE_OPTIONS: "" };
const README = BLOCKS.find(({ page, file }) => page === "README.md" && file === "agents/hello.ts");

it("the agent of the README is served on another port, answers, and ends with npm", async () => {
  const file = join(folder.path, "hello.ts");
  writeFileSync(file, README?.text ?? "");
  const args = ["start", "--silent", "--", file, "--data", join(folder.path, "data")];
  const npm = spawn("npm", args, { cwd: ROOT, env: ENV, stdio: ["ignore", "pipe", "ignore"] });
  const banner: string[] = [];
  for await (const line of createInterface({ input: npm.stdout })) {
    banner.push(line);
    if (line.startsWith("  try")) break;
  }
  const [, port] = /^Dragoman .* on port (\d+) \(port 2024 is in use/.exec(banner[0] ?? "") ?? [];
  expect(Number(port)).toBeGreaterThan(2024);
  const [, command = ""] = /^ {2}try +npx (dragoman call .*) "hello"$/.exec(banner.at(-1) ?? "") ?? [];
  const call = spawnSync("npx", [...command.split(" "), "Ada"], { cwd: ROOT, env: ENV, encoding: "utf8" });
  expect(call.stdout).toBe("Hello, Ada!\n");
  npm.kill("SIGTERM");
  await once(npm, "exit");
  const isServed = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/livez`).then(
      () => true,
      () => false,
    );
  await until(async () => !(await isServed()));
});

it("npm run demo shows that nothing is lost", () => {
  const out = execFileSync("npm", ["run", "--silent", "demo", "--", "--json"], { cwd: ROOT, env: ENV });
  expect(JSON.parse(out.toString())).toMatchObject({ passed: true });
});
