import { readVariable } from "../config/options/variable.ts";
import { PACKAGE_FOLDER, readVersion } from "../server/package-files.ts";
import type { CommandFile } from "./command.ts";
import { run } from "./program.ts";
import { SUMMARIES } from "./summaries.ts";
import { createTerminal } from "./terminal/process-terminal.ts";

/** Runs the program in this process and ends the process. */
export async function start(commands: CommandTable): Promise<void> {
  hideExperimentalWarnings();
  // The reader of a pipe may close it early (`| head`).
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  const terminal = createTerminal({
    process,
    version: readVersion(),
    root: PACKAGE_FOLDER,
    variable: readVariable,
    now: Date.now,
    sinceStartMs: () => performance.now(),
    fetch,
  });
  const argv = process.argv.slice(2);
  const exitCode = await run(argv, await loadCommands(commands, argv), terminal);
  // Flush both streams before the process ends.
  process.stdout.write("", () => process.stderr.write("", () => process.exit(exitCode)));
}

export type CommandTable = Readonly<Record<string, () => Promise<CommandFile>>>;

/** The command that is called; for the help, all of them by name, without importing them. */
async function loadCommands(
  commands: CommandTable,
  argv: readonly string[],
): Promise<readonly CommandFile[]> {
  const name = (argv[0] === "help" ? argv[1] : argv[0]) ?? "";
  if (name === "completion") return Promise.all(Object.values(commands).map(load => load()));
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  return load ? [await load()] : Object.keys(commands).map(toSummary);
}

const toSummary = (name: string): CommandFile => ({
  define: program => void program.command(name).description(SUMMARIES[name as keyof typeof SUMMARIES]),
});

/** Node 22 warns about SQLite and type stripping, which are used on purpose. */
function hideExperimentalWarnings(): void {
  const [print] = process.listeners("warning");
  if (!print) return;
  process.removeAllListeners("warning");
  process.on("warning", warning => {
    if (
      warning.name !== "ExperimentalWarning" ||
      !/SQLite|Type Stripping|stripTypeScriptTypes/.test(warning.message)
    )
      print(warning);
  });
}
