import { resolve } from "node:path";
import type { Command } from "commander";
import { type CommandContext, EXIT } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";
import { runInterruptible } from "../terminal/interrupt.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount, formatSize } from "../terminal/text.ts";
import { dataFolderOption, openStore } from "./data-option.ts";

interface BackupFlags {
  readonly data?: string;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman backup tasks.db                            the store in .dragoman
  dragoman backup /backup/tasks.db --data /srv/tasks

To restore it, put the file into an empty folder as dragoman.db and start a server with --data FOLDER.`;

export function define(program: Command, context: CommandContext): void {
  const command = program.command("backup <file>").description(SUMMARIES.backup);
  dataFolderOption(command)
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (file: string, flags: BackupFlags) => {
      context.exitCode = await backup(context.terminal, resolve(context.terminal.cwd, file), flags);
    });
}

async function backup(terminal: Terminal, target: string, flags: BackupFlags): Promise<number> {
  const store = await openStore(terminal, flags);
  return runInterruptible(
    terminal,
    async ({ output, signal }) => {
      let progress = "copying";
      output.startWaiting(() => progress);
      const onProgress = (done: number, total: number): void => {
        progress = `copied ${formatSize(done)} of about ${formatSize(total)}`;
      };
      const { tasks, bytes, secrets, damage } = await store.backup(target, { onProgress, signal });
      if (flags.json) output.json({ file: target, tasks, bytes, secrets });
      else output.line(`${formatCount(tasks, "task")} (${formatSize(bytes)}) copied into ${target}`);
      // Keys are not in the copy: beside the secrets they would make encryption useless.
      if (secrets > 0)
        output.note(
          `${formatCount(secrets, "encrypted secret")} in it: back up the server's keys separately, they are not in the copy`,
        );
      if (damage === undefined) return EXIT.ok;
      output.alert(`${damage} The copy contains the rest.`);
      return EXIT.error;
    },
    { onInterrupted: output => output.note("interrupted; no copy was made") },
  );
}
