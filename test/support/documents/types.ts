/** Type-checks all TypeScript of the documents in one run of the compiler, as a user's `tsc --strict` would. */
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../tidy-tree.ts";
import { type Block, placeOf } from "./blocks.ts";
import { installInto, MODULES, writeAlone } from "./project.ts";

/** `docs/guide/push.md:64: TS2304: Cannot find name 'work'.` for each error. */
export async function typeErrors(folder: string, blocks: readonly Block[]): Promise<readonly string[]> {
  installInto(folder);
  const places = new Map<string, Block>();
  const files = blocks
    .filter(block => block.language === "ts" && block.note?.kind !== "checked in")
    .map((block, at) => {
      const alone = join(folder, `block-${at}`);
      mkdirSync(alone);
      places.set(`block-${at}`, block);
      return writeAlone(
        alone,
        block,
        blocks.filter(one => one.page === block.page && one.language === "ts"),
      );
    });
  const compilerOptions = {
    strict: true,
    target: "es2024",
    module: "nodenext",
    types: ["node"],
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    noEmit: true,
    skipLibCheck: true,
    paths: Object.fromEntries(
      Object.entries(MODULES).map(([name, file]) => [name.replace(".", "dragoman"), [join(ROOT, file)]]),
    ),
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const output = await new Promise<string>(resolve => {
    execFile(
      join(ROOT, "node_modules/.bin/tsc"),
      ["-p", folder, "--pretty", "false"],
      (_error, stdout, stderr) => resolve(stdout + stderr),
    );
  });
  return (
    output
      .split("\n")
      // Without the stricter options of this repository its own sources have errors, which declaration files do not have.
      .filter(line => line.includes("error TS") && !/^(?:\.\.\/)*\S*\bsrc\//.test(line))
      .map(line => {
        const [, name = "", row = "0", message] =
          /(block-\d+)\/[^(]*\((\d+),\d+\): error (.*)/.exec(line) ?? [];
        const block = places.get(name);
        return block ? `${placeOf({ ...block, line: block.line + Number(row) })}: ${message}` : line;
      })
  );
}
