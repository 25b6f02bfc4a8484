import { resolve } from "node:path";
import type { Command } from "commander";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { createOutput } from "../terminal/output.ts";
import { formatCount, formatSize } from "../terminal/text.ts";
import { dataFolder, dataOption } from "./data-option.ts";

interface BackupFlags {
  readonly data?: string;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman backup tasks.db                          the store in .dragoman, also while its server runs
  dragoman backup /backup/tasks.db --data /srv/tasks

To restore it, put the file into an empty folder as dragoman.db, and start a server with --data FOLDER.`;

export function define(program: Command, session: CommandContext): void {
  const command = program
    .command("backup <file>")
    .description("Copy a store into one file, also while its server runs");
  dataOption(command)
    .option("--json", "print JSON for programs")
    .addHelpText("after", EXAMPLES)
    .action(async (file: string, flags: BackupFlags) => {
      session.exitCode = await backup(session, resolve(session.terminal.cwd, file), flags);
    });
}

async function backup({ terminal }: CommandContext, target: string, flags: BackupFlags): Promise<number> {
  const folder = await dataFolder(terminal, flags.data);
  const { copyStore, countEncrypted, findStoreDamage } = await import("../../store/sqlite/index.ts");
  const output = createOutput(terminal, CLI_LIMITS.waitingDelayMs);
  const stop = new AbortController();
  const off = terminal.onSignal("SIGINT", () => stop.abort());
  let progress = "copying";
  output.startWaiting(() => progress);
  const onProgress = (done: number, total: number): void => {
    progress = `copied ${formatSize(done)} of about ${formatSize(total)}`;
  };
  try {
    const { tasks, bytes } = await copyStore({ folder, target, onProgress, signal: stop.signal });
    const secrets = [...countEncrypted(folder).values()].reduce((sum, one) => sum + one, 0);
    if (flags.json) output.json({ file: target, tasks, bytes, secrets });
    else output.line(`${formatCount(tasks, "task")} (${formatSize(bytes)}) copied into ${target}`);
    // Where keys lie beside what they seal, nothing is sealed.
    if (secrets > 0)
      output.note(
        `${formatCount(secrets, "secret")} in it can only be read with the server's keys: keep these apart from it`,
      );
    const damage = findStoreDamage(folder);
    if (damage === undefined) return EXIT.ok;
    output.alert(`${damage} The copy has what is left`);
    return EXIT.error;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    output.note("stopped; there is no copy");
    return EXIT.interrupted;
  } finally {
    output.stopWaiting();
    off();
  }
}
