import type { Command } from "commander";
import type { Terminal } from "./terminal/terminal.ts";

/** One start of the program. */
export interface CommandContext {
  readonly terminal: Terminal;
  exitCode: number;
  /** Errors are shown with their stack. */
  debug: boolean;
}

/** A module that adds a command to the program, and imports what the command needs only when it runs. */
export interface CommandFile {
  define(program: Command, context: CommandContext): void;
}

export const EXIT = {
  ok: 0,
  error: 1,
  /** The call succeeded, but the task failed or was rejected or canceled. */
  taskFailed: 3,
  /** The agent asked a question, and the command could not answer it. */
  asked: 4,
  /** The command did its work, but not all of it could be done: what is missing is listed. */
  partial: 5,
  /** As shells report SIGINT. */
  interrupted: 130,
} as const;
