import { type ErrorRecord, LIMITS } from "../model/index.ts";
import { redact, scrub } from "./redact.ts";

const NAME_CHARS_MAX = 200;
/** Of the room that is left. */
const MESSAGE_SHARE = 0.25;
const STACK_SHARE = 0.5;
const DEPTH_MAX = 5;
const CAUSES_MAX = 4;
/** The names of members around its texts count as well. */
const FRAME_CHARS = 64;
/** The rest of a text is cut off before secrets are looked for. */
const SEARCHED_CHARS_MAX = 16_384;

interface Room {
  chars: number;
}

/** An error as it is kept: what the log has of it, in a few kilobytes. Whatever was thrown, this does not throw. */
export const toErrorRecord = (error: unknown): ErrorRecord =>
  record(error, { chars: LIMITS.errorCharsMax }, 0);

function record(error: unknown, room: Room, depth: number): ErrorRecord {
  room.chars -= FRAME_CHARS;
  try {
    return error instanceof Error ? recordError(error, room, depth) : recordValue(error, room);
  } catch {
    // A getter or a proxy of the agent's own.
    return { name: "Error", message: "(it cannot be read)" };
  }
}

const recordValue = (value: unknown, room: Room): ErrorRecord => ({
  name: value === null ? "null" : typeof value,
  message: take(room, MESSAGE_SHARE, typeof value === "object" ? JSON.stringify(redact(value)) : value),
});

function recordError(error: Error, room: Room, depth: number): ErrorRecord {
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

/** A share of the room that is left. */
function take(room: Room, share: number, value: unknown, charsMax = room.chars): string {
  const max = Math.max(0, Math.min(Math.floor(room.chars * share), charsMax));
  const text = scrub(String(value).slice(0, SEARCHED_CHARS_MAX));
  const cut = text.length > max ? `${text.slice(0, max)}…` : text;
  room.chars -= cut.length;
  return cut.toWellFormed().replaceAll("\0", "\ufffd");
}
