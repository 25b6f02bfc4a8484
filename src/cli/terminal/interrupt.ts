import { EXIT } from "../command.ts";
import { createOutput, type Output } from "./output.ts";
import type { Terminal } from "./terminal.ts";

export type InterruptReason = "signal" | "timeout";

export interface Interruptible {
  readonly output: Output;
  /** Aborted by SIGINT, SIGTERM or the timeout. */
  readonly signal: AbortSignal;
}

export interface InterruptOptions {
  readonly timeoutMs?: number | undefined;
  readonly onInterrupted?: (output: Output, reason: InterruptReason) => void;
}

/** Runs a command that a signal or a timeout can stop. Resolves with the exit code. */
export async function runInterruptible(
  terminal: Terminal,
  work: (io: Interruptible) => Promise<number>,
  { timeoutMs, onInterrupted }: InterruptOptions = {},
): Promise<number> {
  const output = createOutput(terminal);
  const controller = new AbortController();
  let reason: InterruptReason | undefined;
  const stop = (cause: InterruptReason) => () => {
    reason ??= cause;
    controller.abort();
  };
  const removers = [
    terminal.onSignal("SIGINT", stop("signal")),
    terminal.onSignal("SIGTERM", stop("signal")),
  ];
  const timer = timeoutMs === undefined ? undefined : setTimeout(stop("timeout"), timeoutMs);
  try {
    return await work({ output, signal: controller.signal });
  } catch (error) {
    if (reason === undefined) throw error;
    output.end();
    onInterrupted?.(output, reason);
    return reason === "timeout" ? EXIT.error : EXIT.interrupted;
  } finally {
    output.end();
    clearTimeout(timer);
    for (const remove of removers) remove();
  }
}
