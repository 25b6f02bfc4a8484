import type { Progress } from "../../client/progress.ts";
import type { Remote } from "../commands/remote-options.ts";
import { shellWord, type Terminal } from "./terminal.ts";

/** Commands for the user to paste. Values of headers are left out: they may be secrets. */
export interface Hints {
  tail(progress: Progress): string;
  cancel(progress: Progress): string;
  answer(progress: Progress): string;
}

export function createHints(terminal: Pick<Terminal, "program">, remote: Remote): Hints {
  const headers = Object.keys(remote.headers).flatMap(name => ["--header", shellWord(`${name}: …`)]);
  const paste = (command: string, ...words: readonly string[]) =>
    [terminal.program, command, shellWord(remote.target.base), ...words, ...headers].join(" ");
  return {
    tail: ({ taskId = "", eventId }) =>
      paste("tail", shellWord(taskId), ...(eventId ? ["--from", shellWord(eventId)] : [])),
    cancel: ({ taskId = "" }) => paste("cancel", shellWord(taskId)),
    answer: ({ taskId = "", contextId = "" }) =>
      paste("call", "'your answer'", "--task", shellWord(taskId), "--context", shellWord(contextId)),
  };
}
