/** Examples that need more than a file have a check beside them, which serves and calls them. */
import { execFile } from "node:child_process";
import { existsSync, globSync, readdirSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const EXAMPLES = new URL("../../examples/", import.meta.url).pathname;

test("every folder has a README and a check", () => {
  const folders = readdirSync(EXAMPLES, { withFileTypes: true }).filter(entry => entry.isDirectory());
  const missing = folders.flatMap(({ name }) =>
    ["README.md", "check.ts"]
      .filter(file => !existsSync(`${EXAMPLES}${name}/${file}`))
      .map(file => `${name}/${file}`),
  );
  expect(missing).toEqual([]);
});

const OWN_MODULES = new URL("../support/own-modules.ts", import.meta.url).href;

/** Needs packages of Python: test/judges/examples.test.ts installs them. */
const IN_PYTHON = "langgraph-python/check.ts";

test.each(globSync(["*/check.ts", "_check.ts"], { cwd: EXAMPLES }).filter(check => check !== IN_PYTHON))(
  "%s passes for its example",
  async check => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--import",
      OWN_MODULES,
      EXAMPLES + check,
    ]);
    expect(stdout).toBe("ok\n");
  },
);
