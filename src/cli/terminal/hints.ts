import type { Progress } from "../../client/progress.ts";
import { readAuthorization, readQuestions } from "../../client/questions.ts";
import type { Message } from "../../model/index.ts";
import type { Remote } from "./target.ts";
import { quoteForShell, type Terminal } from "./terminal.ts";

/** Commands for the user to paste. Values of headers are omitted: they may be secrets. */
export interface CommandHints {
  tail(progress: Progress): string;
  cancel(progress: Progress): string;
  answer(progress: Progress, question: Message | undefined): string;
}

export function createHints(
  { program }: Pick<Terminal, "program">,
  { words, headers }: Remote,
): CommandHints {
  const headerFlags = Object.keys(headers)
    .filter(name => name !== "authorization")
    .flatMap(name => ["--header", quoteForShell(`${name}: …`)]);
  const tokenFlag = headers.authorization !== undefined ? ["--token", "…"] : [];
  const toCommand = (name: string, ...rest: readonly string[]): string =>
    [program, name, ...words, ...rest, ...headerFlags, ...tokenFlag].join(" ");
  return {
    tail: ({ taskId = "", eventId }) =>
      toCommand("tail", quoteForShell(taskId), ...(eventId ? ["--from", quoteForShell(eventId)] : [])),
    cancel: ({ taskId = "" }) => toCommand("cancel", quoteForShell(taskId)),
    answer: ({ taskId = "", contextId = "" }, question) =>
      toCommand(
        "call",
        ...toAnswerWords(question),
        "--task",
        quoteForShell(taskId),
        "--context",
        quoteForShell(contextId),
      ),
  };
}

/** How the answer is written: text, or data with the ids of several questions, or with credentials. */
function toAnswerWords(question: Message | undefined): readonly string[] {
  if (readAuthorization(question)) return ["--data", `'{"credentials":"…"}'`];
  const questions = readQuestions(question);
  if (questions.length < 2) return ["'your answer'"];
  const resume = questions.map(({ id }) => ({ id, value: "…" }));
  return ["--data", quoteForShell(JSON.stringify({ resume }))];
}
