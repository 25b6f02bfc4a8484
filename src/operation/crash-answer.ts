import { isObject, toBoolean } from "../lib/json.ts";
import { CRASH_OPTIONS, type Part, type TaskEvent, textOf } from "../model/index.ts";
import type { MessageEvent } from "./answers.ts";

/**
 * The answer to the question whether an interrupted run shall be repeated (`onCrash: "ask"`). Any other message leaves the
 * question open: a wrong guess could do the work twice.
 */
export function toCrashAnswerEvents(event: MessageEvent): readonly TaskEvent[] {
  const again: MessageEvent = { ...event, again: true };
  switch (readCrashAnswer(event.message.parts)) {
    case "run-again":
      return [again];
    case "cancel":
      return [again, { type: "status", state: "canceled" }];
    case undefined:
      return [{ ...event, type: "answered", answers: {} }];
  }
}

/** The data `{ answer }`, or a value or text by itself: an option, yes or no, true or false. */
function readCrashAnswer(parts: readonly Part[]): (typeof CRASH_OPTIONS)[number] | undefined {
  const data = parts.find(part => part.kind === "data")?.data;
  const value = (isObject(data) ? data.answer : data) ?? textOf(parts);
  const word = typeof value === "string" ? value.trim().toLowerCase() : undefined;
  const option = CRASH_OPTIONS.find(one => one === word);
  if (option) return option;
  const isYes = toBoolean(value);
  return isYes === undefined ? undefined : isYes ? "run-again" : "cancel";
}
