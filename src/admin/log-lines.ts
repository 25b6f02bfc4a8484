/** The newest lines of the log, in memory, for the admin API. */
import type { JsonObject } from "../lib/json.ts";
import type { Log } from "../ports/index.ts";
import type { LogLine } from "./api.ts";

type Level = LogLine["level"];
export const LOG_LEVELS: readonly Level[] = ["debug", "info", "warn", "error"];

const LINES_MAX = 5_000;
const BYTES_MAX = 8 * 1024 * 1024;
const TEXT_CHARS_MAX = 2_000;
const FACTS_CHARS_MAX = 8_000;

export interface LogLineParts {
  readonly now: () => number;
  /** Removes secrets, and makes facts JSON. */
  readonly redact: (facts: object) => unknown;
  readonly scrub: (text: string) => string;
}

/** A ring of lines. */
export function createLogLines({ now, redact, scrub }: LogLineParts) {
  const lines: { readonly line: LogLine; readonly bytes: number }[] = [];
  let first = 0;
  let bytes = 0;

  function add(level: Level, facts: object, text: string): void {
    const { json, size } = toJson(facts);
    const line: LogLine = {
      at: now(),
      level,
      text: scrub(text).slice(0, TEXT_CHARS_MAX),
      task: readString(json.taskId),
      run: typeof json.attempt === "number" ? json.attempt : null,
      facts: json,
    };
    lines.push({ line, bytes: size + text.length });
    bytes += size + text.length;
    while (lines.length - first > LINES_MAX || bytes > BYTES_MAX) bytes -= lines[first++]?.bytes ?? bytes;
    if (first < LINES_MAX) return;
    lines.splice(0, first);
    dropped += first;
    first = 0;
  }
  let dropped = 0;

  function toJson(facts: object): { readonly json: JsonObject; readonly size: number } {
    const text = JSON.stringify(redact(facts)) ?? "{}";
    if (text.length <= FACTS_CHARS_MAX) return { json: JSON.parse(text) as JsonObject, size: text.length };
    const { taskId, attempt, agent } = facts as Readonly<Record<string, string | number | undefined>>;
    const json = {
      taskId: taskId ?? null,
      attempt: attempt ?? null,
      agent: agent ?? null,
      more: text.slice(0, FACTS_CHARS_MAX),
    };
    return { json, size: FACTS_CHARS_MAX };
  }

  return {
    /** The same log; every line is also remembered. */
    wrap: (log: Log): Log => ({
      debug: (facts, text) => log.debug(facts, text),
      info(facts, text) {
        log.info(facts, text);
        add("info", facts, text);
      },
      warn(facts, text) {
        log.warn(facts, text);
        add("warn", facts, text);
      },
      error(facts, text) {
        log.error(facts, text);
        add("error", facts, text);
      },
    }),
    /** The newest that match, oldest first. */
    find(matches: (line: LogLine) => boolean, max: number): readonly LogLine[] {
      const found: LogLine[] = [];
      for (let i = lines.length - 1; i >= first && found.length < max; i--) {
        const { line } = lines[i] as { readonly line: LogLine };
        if (matches(line)) found.push(line);
      }
      return found.reverse();
    },
    isShortened: (): boolean => first + dropped > 0,
  };
}

export type LogLines = ReturnType<typeof createLogLines>;

const readString = (value: unknown): string | null => (typeof value === "string" ? value : null);
