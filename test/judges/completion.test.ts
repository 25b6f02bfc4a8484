/** The completion scripts, run by the shells that they are for. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { tempFolder } from "../support/server.ts";

const folder = tempFolder();
const fileOf = (shell: string): string => join(folder.path, shell, "_dragoman");
beforeAll(async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    mkdirSync(join(folder.path, shell));
    writeFileSync(fileOf(shell), (await runCli("completion", shell)).out);
  }
});
afterAll(() => folder.remove());

const hasShell = (shell: string): boolean => spawnSync(shell, ["--version"]).error === undefined;

function runShell(shell: string, ...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(shell, args, { cwd: folder.path, encoding: "utf8", timeout: 60_000 });
  return `${stdout}${stderr}`;
}

const BASH = `source "$1"; COMP_WORDS=($2); [ "\${2: -1}" = " " ] && COMP_WORDS+=("")
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _dragoman; printf '%s\\n' "\${COMPREPLY[@]}"`;

/** A shell in a pseudo terminal: zsh completes only while a line is edited. */
const ZSH = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=($1:h \\$fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=1000; print REA''DY"
zpty -r -m shell text '*READY*'
zpty -w -n shell "$2"$'\\t\\t'
zpty -r -m shell text "*$3*"
print -r -- "$text"
zpty -d shell`;

/** The words that a shell offers after a line. zsh is read up to `last`, the last word of its list. */
const COMPLETE: Readonly<Record<string, (line: string, last: string) => string>> = {
  bash: line => runShell("bash", "-c", BASH, "bash", fileOf("bash"), line),
  zsh: (line, last) => runShell("zsh", "-f", "-c", ZSH, "zsh", fileOf("zsh"), line, last),
  fish: line => runShell("fish", "-c", `source ${fileOf("fish")}; complete -C '${line}'`),
};

describe.each(Object.keys(COMPLETE))("completion in %s", shell => {
  it.skipIf(!hasShell(shell))("offers commands, commands below them, and the flags of each", () => {
    const complete = COMPLETE[shell] as (line: string, last: string) => string;
    const commands = complete("dragoman ta", "tasks");
    expect(commands).toContain("tail");
    expect(commands).toContain("tasks");
    const inner = complete("dragoman token ", "revoke");
    for (const word of ["create", "list", "revoke"]) expect(inner).toContain(word);
    const flags = complete("dragoman tail --", "--token");
    for (const word of ["--from", "--save", "--token"]) expect(flags).toContain(word);
    const purge = complete("dragoman tasks purge --", "--older-than");
    expect(purge).toContain("--older-than");
    expect(purge).not.toContain("--state");
  });
});
