import { execFileSync } from "node:child_process";
import { KeyRefusal } from "./key-file-format.ts";

/** How long it may take: a start waits for it. */
const COMMAND_MS = 30_000;
const OUTPUT_BYTES_MAX = 1024 * 1024;

/** What a program prints that knows the keys: the client of a vault, say. No shell has a part in it. */
export function runKeysCommand([program = "", ...words]: readonly string[]): string {
  try {
    return execFileSync(program, words, {
      encoding: "utf8",
      timeout: COMMAND_MS,
      maxBuffer: OUTPUT_BYTES_MAX,
      stdio: ["ignore", "pipe", "inherit"],
    });
  } catch (error) {
    // Its output may hold half a key: only how it ended is told.
    const { code, status, signal } = error as NodeJS.ErrnoException & { status?: number; signal?: string };
    const how = code ?? signal ?? `exit code ${status}`;
    throw new KeyRefusal(`The keysCommand "${program}" gave no keys (${how}). Try it by hand.`);
  }
}
