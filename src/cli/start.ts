import { PACKAGE_FOLDER, readVersion } from "../server/package-files.ts";
import { readVariable } from "../config/options/variable.ts";
import type { CommandFile } from "./command.ts";
import { run } from "./program.ts";
import { createTerminal } from "./terminal/process-terminal.ts";

/** Runs the program in this process and ends the process. */
export async function start(commands: readonly CommandFile[]): Promise<void> {
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
  const exitCode = await run(process.argv.slice(2), commands, terminal);
  // Flush both streams before the process ends.
  process.stdout.write("", () => process.stderr.write("", () => process.exit(exitCode)));
}

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
