import type { Progress } from "../../client/progress.ts";
import type { Remote } from "../commands/remote-options.ts";
import { quoteForShell, type Terminal } from "./terminal.ts";

/** Commands for the user to paste. Values of headers are left out: they may be secrets. */
export interface Hints {
  tail(progress: Progress): string;
  cancel(progress: Progress): string;
  answer(progress: Progress): string;
}

export function createHints(terminal: Pick<Terminal, "program">, remote: Remote): Hints {
  const headers = Object.keys(remote.headers).flatMap(name => ["--header", quoteForShell(`${name}: …`)]);
  const paste = (command: string, ...words: readonly string[]) =>
    [terminal.program, command, quoteForShell(remote.target.base), ...words, ...headers].join(" ");
  return {
    tail: ({ taskId = "", eventId }) =>
      paste("tail", quoteForShell(taskId), ...(eventId ? ["--from", quoteForShell(eventId)] : [])),
    cancel: ({ taskId = "" }) => paste("cancel", quoteForShell(taskId)),
    answer: ({ taskId = "", contextId = "" }) =>
      paste("call", "'your answer'", "--task", quoteForShell(taskId), "--context", quoteForShell(contextId)),
  };
}
