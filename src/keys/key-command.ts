import { execFileSync } from "node:child_process";
import { StartupError } from "../lib/startup-error.ts";

/** The start waits for the command. */
const COMMAND_MS = 30_000;
const OUTPUT_BYTES_MAX = 1024 * 1024;

/** The output of a command that prints the keys, for example the client of a secret manager. No shell is used. */
export function runKeysCommand([program = "", ...words]: readonly string[]): string {
  try {
    return execFileSync(program, words, {
      encoding: "utf8",
      timeout: COMMAND_MS,
      maxBuffer: OUTPUT_BYTES_MAX,
      stdio: ["ignore", "pipe", "inherit"],
    });
  } catch (error) {
    // The output may contain part of a key: the message has only the exit status.
    const { code, status, signal } = error as NodeJS.ErrnoException & { status?: number; signal?: string };
    const how = code ?? signal ?? `exit code ${status}`;
    throw new StartupError(`The keysCommand "${program}" failed (${how}). Run it by hand to see why.`);
  }
}
