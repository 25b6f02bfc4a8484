import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import type { Log } from "../../ports/index.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";
import { runInterruptible } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount } from "../terminal/text.ts";
import { openStoreAt } from "./data-option.ts";

interface MigrateFlags {
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman migrate .dragoman postgres://user:password@host/database
  dragoman migrate /srv/tasks/dragoman.db postgres://host/database

Stop the server of the folder first. After an interruption, run the command again: tasks that were copied already stay.
Keys are not copied: start the new servers with --key-file FOLDER/keys.json.`;

export function define(program: Command, context: CommandContext): void {
  program
    .command("migrate <folder> <url>")
    .description(SUMMARIES.migrate)
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (path: string, url: string, flags: MigrateFlags) => {
      const { terminal } = context;
      const source = resolve(terminal.cwd, path);
      const folder = source.endsWith("dragoman.db") ? dirname(source) : source;
      context.exitCode = await migrate(terminal, folder, url, flags.json === true);
    });
}

async function migrate(terminal: Terminal, folder: string, url: string, json: boolean): Promise<number> {
  const { migrateStore } = await import("../../server/open-store-admin.ts");
  return runInterruptible(
    terminal,
    async ({ output, signal }) => {
      let progress = "opening the store";
      output.startWaiting(() => progress);
      const toProgress = (done: string) => (count: number, total: number) => {
        progress = `${done} ${count.toLocaleString("en")} of ${formatCount(total, "task")}`;
      };
      const log = toLog(output);
      const result = await migrateStore({ folder, url, log, onProgress: toProgress("copied"), signal });
      const target = await openStoreAt(terminal, url, log);
      const { findings, findingsCount } = await target.check(toProgress("checked"));
      if (json) output.json({ ...result, findings, findingsCount });
      else {
        const known =
          result.known > 0 ? `, ${result.known.toLocaleString("en")} of them existed already` : "";
        output.line(`${formatCount(result.tasks, "task")} copied${known}`);
        for (const finding of findings) output.line(`  ${finding}`);
        output.line(findingsCount === 0 ? "no problems found" : formatCount(findingsCount, "problem"));
      }
      return findingsCount === 0 ? EXIT.ok : EXIT.error;
    },
    { onInterrupted: output => output.note("interrupted; run the command again to continue") },
  );
}

function toLog({ note }: Output): Log {
  const write = (_: object, text: string): void => note(text);
  return { debug() {}, info() {}, warn: write, error: write };
}
