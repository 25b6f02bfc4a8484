import { readVersion } from "../server/package-files.ts";
import type { CommandFile } from "./command.ts";
import { run } from "./program.ts";
import { createTerminal } from "./terminal/process-terminal.ts";

/** Runs the program in this process and ends the process. */
export async function start(commands: readonly CommandFile[]): Promise<void> {
  quietWarnings();
  // Whoever reads us may stop early (`| head`): that is no error of ours.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  const terminal = createTerminal({
    process,
    version: readVersion(),
    now: Date.now,
    sinceStartMs: () => performance.now(),
    fetch,
  });
  const exitCode = await run(process.argv.slice(2), commands, terminal);
  // What was written last must be out before the process ends.
  process.stdout.write("", () => process.stderr.write("", () => process.exit(exitCode)));
}

/** Node 22 warns of two things that we use on purpose. */
function quietWarnings(): void {
  const [print] = process.listeners("warning");
  if (!print) return;
  process.removeAllListeners("warning");
  process.on("warning", warning => {
    if (warning.name !== "ExperimentalWarning" || !/SQLite|Type Stripping|stripTypeScriptTypes/.test(warning.message))
      print(warning);
  });
}
