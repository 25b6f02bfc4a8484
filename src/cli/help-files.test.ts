import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { type CommandFile, EXIT } from "./command.ts";
import { run } from "./program.ts";
import { SUMMARIES } from "./summaries.ts";
import { createMemoryTerminal } from "./terminal/memory-terminal.ts";

/** bin/help has what `--help` prints, for bin/dragoman.cjs. `npx vitest run src/cli/help-files.test.ts -u` writes it. */
const FOLDER = fileURLToPath(new URL("../../bin/help", import.meta.url));
const NAMES = Object.keys(SUMMARIES);
const files = new Map(
  await Promise.all(
    NAMES.map(async name => [name, (await import(`./commands/${name}.ts`)) as CommandFile] as const),
  ),
);

function newTerminal() {
  const terminal = createMemoryTerminal({
    tty: false,
    answers: [],
    input: "",
    cwd: "/",
    fetch,
    now: () => 0,
  });
  return { ...terminal, program: "npx dragoman", out: { ...terminal.out, columns: 80 } };
}

/** `push`, `push redeliver`, … */
const paths = [...files.values()].flatMap(file => {
  const program = new Command();
  file.define(program, { terminal: newTerminal(), exitCode: EXIT.ok, debug: false });
  return program.commands.flatMap(command => [
    [command.name()],
    ...command.commands.map(below => [command.name(), below.name()]),
  ]);
});
const fileOf = (path: readonly string[]): string => `${["dragoman", ...path].join("-")}.txt`;

describe("the files of the help", () => {
  test.each([[], ...paths].map(path => [fileOf(path), path] as const))("%s", async (file, path) => {
    const terminal = newTerminal();
    const commands = path[0] === undefined ? [...files.values()] : [files.get(path[0]) as CommandFile];
    expect(await run([...path, "--help"], commands, terminal)).toBe(0);
    await expect(terminal.written.out).toMatchFileSnapshot(`${FOLDER}/${file}`);
  });

  test("exist for commands only", () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual([[], ...paths].map(fileOf).toSorted());
  });
});
