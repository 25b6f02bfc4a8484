/** The archive that npm would publish, as publint and "Are the types wrong?" see it. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { tempFolder } from "../support/server.ts";
import { installPackages } from "./install.ts";
import { packInto } from "./packed.ts";

const installed = installPackages("package", ["publint@0.3.25", "@arethetypeswrong/cli@0.18.5"]);

describe.skipIf(installed === undefined)("the packed package", () => {
  const folder = tempFolder();
  afterAll(() => folder.remove());
  let archive: string | undefined;

  function judge(
    script: string,
    args: readonly string[],
  ): { readonly status: number | null; readonly output: string } {
    archive ??= packInto(join(folder.path, "packed"));
    const file = join(installed as string, "node_modules", script);
    const result = spawnSync(process.execPath, [file, ...args, archive], {
      encoding: "utf8",
      cwd: folder.path,
    });
    return { status: result.status, output: `${result.stdout}${result.stderr}` };
  }

  it("has no finding of publint", () => {
    const { status, output } = judge("publint/src/cli.js", ["run", "--strict"]);
    expect(output).toContain("All good!");
    expect(status).toBe(0);
  }, 600_000);

  it("has types that every ESM program finds, in Node and in bundlers", () => {
    // The package is ESM only: the resolution of Node 10 knows no `exports`, and `require` gives ESM since Node 22.12.
    const { status, output } = judge("@arethetypeswrong/cli/dist/index.js", [
      "--profile",
      "esm-only",
      "--no-emoji",
      // By default the form depends on the terminal, and on the variable CI.
      "--format",
      "ascii",
    ]);
    const resolutions = output.split("\n").filter(line => /^(?:node|bundler)[^:]*: /.test(line));
    expect(resolutions.length).toBeGreaterThan(20);
    expect(resolutions.filter(line => !/: (?:OK|\(ignored\))/.test(line))).toEqual([]);
    expect(status).toBe(0);
  }, 600_000);
});
