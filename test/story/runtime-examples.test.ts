/** Examples that need more than a file have a check beside them, which serves and calls them. */
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const EXAMPLES = new URL("../../examples/", import.meta.url).pathname;

test.each(globSync("*/check.ts", { cwd: EXAMPLES }))("%s passes for its example", async check => {
  const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLES + check]);
  expect(stdout).toBe("ok\n");
});
