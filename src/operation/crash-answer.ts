import { isObject } from "../lib/json.ts";
import { type Part, type TaskEvent, textOf, verdictIn } from "../model/index.ts";
import type { Said } from "./answers.ts";

/**
 * The answer to the question whether work that was cut off shall be run again. A clear yes runs it, with the message that
 * it was about; a clear no ends the task. Anything else leaves the question open: to guess could do the work twice.
 */
export function withVerdict(said: Said): readonly TaskEvent[] {
  const again: Said = { ...said, again: true };
  switch (verdictOf(said.message.parts)) {
    case "yes":
      return [again];
    case "no":
      return [again, { type: "status", state: "canceled" }];
    case "unclear":
      return [{ ...said, type: "answered", answers: {} }];
  }
}

function verdictOf(parts: readonly Part[]): "yes" | "no" | "unclear" {
  const data = parts.find(part => part.kind === "data")?.data;
  const value = isObject(data) ? Object.values(data)[0] : data;
  return verdictIn(`${typeof value === "boolean" || typeof value === "string" ? value : textOf(parts)}`);
}
