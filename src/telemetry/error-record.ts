import { type ErrorRecord, LIMITS } from "../model/index.ts";
import { redact, scrub } from "./redact.ts";

const NAME_CHARS_MAX = 200;
/** Share of the remaining characters. */
const MESSAGE_SHARE = 0.25;
const STACK_SHARE = 0.5;
const DEPTH_MAX = 5;
const CAUSES_MAX = 4;
/** Member names and punctuation count as well. */
const FRAME_CHARS = 64;
/** Longer texts are cut before they are searched for secrets. */
const SEARCHED_CHARS_MAX = 16_384;

interface RemainingChars {
  chars: number;
}

/** An error as it is stored with its task: bounded to a few kilobytes. This never throws, whatever the agent threw. */
export const toErrorRecord = (error: unknown): ErrorRecord =>
  record(error, { chars: LIMITS.errorCharsMax }, 0);

function record(error: unknown, room: RemainingChars, depth: number): ErrorRecord {
  room.chars -= FRAME_CHARS;
  try {
    return error instanceof Error ? recordError(error, room, depth) : recordValue(error, room);
  } catch {
    // A getter or proxy of the agent threw.
    return { name: "Error", message: "(it cannot be read)" };
  }
}

const recordValue = (value: unknown, room: RemainingChars): ErrorRecord => ({
  name: value === null ? "null" : typeof value,
  message: take(room, MESSAGE_SHARE, typeof value === "object" ? JSON.stringify(redact(value)) : value),
});

function recordError(error: Error, room: RemainingChars, depth: number): ErrorRecord {
  const { name, message, stack, code } = error as Error & { readonly code?: unknown };
  const hasCode = typeof code === "string" || typeof code === "number";
  const own = {
    name: take(room, 1, name, NAME_CHARS_MAX),
    message: take(room, MESSAGE_SHARE, message),
    ...(hasCode && { code: take(room, 1, code, NAME_CHARS_MAX) }),
    ...(typeof stack === "string" && { stack: take(room, STACK_SHARE, stack) }),
  };
  const causes: ErrorRecord[] = [];
  for (const cause of depth < DEPTH_MAX ? causesOf(error) : [])
    if (room.chars > FRAME_CHARS) causes.push(record(cause, room, depth + 1));
  return causes.length > 0 ? { ...own, causes } : own;
}

function causesOf(error: Error & { readonly errors?: unknown }): readonly unknown[] {
  const { cause, errors } = error;
  const all = [
    ...(cause === undefined ? [] : [cause]),
    ...(Array.isArray(errors) ? errors.slice(0, CAUSES_MAX) : []),
  ];
  return all.slice(0, CAUSES_MAX);
}

/** Cuts a text to a share of the remaining characters. */
function take(room: RemainingChars, share: number, value: unknown, charsMax = room.chars): string {
  const max = Math.max(0, Math.min(Math.floor(room.chars * share), charsMax));
  const text = scrub(String(value).slice(0, SEARCHED_CHARS_MAX));
  const cut = text.length > max ? `${text.slice(0, max)}…` : text;
  room.chars -= cut.length;
  return cut.toWellFormed().replaceAll("\0", "\ufffd");
}
