import type { Command } from "commander";
import type { Terminal } from "./terminal/terminal.ts";

/** One start of the program. */
export interface CommandContext {
  readonly terminal: Terminal;
  exitCode: number;
  /** Stacks of unexpected errors are shown. */
  debug: boolean;
}

/** A command is a file that makes itself known to the program; what it needs to run is loaded when it runs. */
export interface CommandFile {
  define(program: Command, session: CommandContext): void;
}

export const EXIT = {
  ok: 0,
  error: 1,
  /** The call worked, the task did not. */
  taskFailed: 3,
  /** What shells say for a program that was stopped by Ctrl-C. */
  interrupted: 130,
} as const;
