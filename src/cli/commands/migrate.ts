import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import type { Log } from "../../ports/index.ts";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { ClientError } from "../terminal/errors.ts";
import { createOutput, type Output } from "../terminal/output.ts";
import { formatCount } from "../terminal/text.ts";
import { isDatabase, loadPostgres } from "./open-store.ts";

interface MigrateFlags {
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  dragoman migrate .dragoman postgres://user:password@host/database
  dragoman migrate /srv/tasks/dragoman.db postgres://host/database

Stop the server of the folder first. If the move is broken off, do it again: what is there already stays.
The keys are not moved: give the new servers --key-file FOLDER/keys.json.`;

export function define(program: Command, session: CommandContext): void {
  program
    .command("migrate <folder> <url>")
    .description("Move a store from its folder into a Postgres database")
    .option("--json", "print JSON for programs")
    .addHelpText("after", EXAMPLES)
    .action(async (folder: string, url: string, flags: MigrateFlags) => {
      session.exitCode = await move(session, toFolder(resolve(session.terminal.cwd, folder)), url, flags);
    });
}

/** The file in it is as good a name as the folder. */
const toFolder = (path: string): string => (path.endsWith("dragoman.db") ? dirname(path) : path);

async function move(
  { terminal }: CommandContext,
  folder: string,
  url: string,
  flags: MigrateFlags,
): Promise<number> {
  if (!isDatabase(url))
    throw new ClientError(`${url} is no database: give an address like postgres://user:password@host/database`);
  const { openForExport } = await import("../../store/sqlite/index.ts");
  const { importStore, checkPostgres } = await loadPostgres();
  const output = createOutput(terminal, CLI_LIMITS.waitingDelayMs);
  const stop = new AbortController();
  const off = terminal.onSignal("SIGINT", () => stop.abort());
  let progress = "looking at the store";
  output.startWaiting(() => progress);
  const tell =
    (what: string) =>
    (done: number, total: number): void => {
      progress = `${what} ${done.toLocaleString("en")} of ${formatCount(total, "task")}`;
    };
  const from = openForExport(folder);
  try {
    const moved = await importStore({
      url,
      from,
      log: quiet(output),
      onProgress: tell("moved"),
      signal: stop.signal,
    });
    const report = await checkPostgres({ url, log: quiet(output), onProgress: tell("looked at") });
    if (flags.json) output.json({ ...moved, findings: report.findings, findingsCount: report.findingsCount });
    else {
      const known = moved.known > 0 ? `, ${moved.known.toLocaleString("en")} of them were there already` : "";
      output.line(`${formatCount(moved.tasks, "task")} moved${known}`);
      for (const finding of report.findings) output.line(`  ${finding}`);
      output.line(
        report.findingsCount === 0
          ? "nothing is wrong with them"
          : `${formatCount(report.findingsCount, "problem")}`,
      );
    }
    return report.findingsCount === 0 ? EXIT.ok : EXIT.error;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    output.note("stopped; do it again to go on");
    return EXIT.interrupted;
  } finally {
    output.stopWaiting();
    off();
    from.close();
  }
}

function quiet(output: Output): Log {
  const nothing = (): void => {};
  return {
    debug: nothing,
    info: nothing,
    warn: (_, text) => output.note(text),
    error: (_, text) => output.note(text),
  };
}
