import { styleText } from "node:util";
import { pino } from "pino";
import type { Log } from "../ports/index.ts";
import type { LevelSwitch, LogLevel } from "./level.ts";
import { redact, scrub } from "./redact.ts";

export interface LogOptions {
  readonly level: LogLevel;
  /** Lines for a terminal; otherwise one JSON object per line. */
  readonly pretty: boolean;
  readonly colour: boolean;
  now(): number;
  write(text: string): void;
}

/** The log of the server, as JSON or as lines for a terminal, with secrets redacted. */
export function createLog(parts: LogOptions): Log & LevelSwitch {
  const write = parts.pretty ? (line: string) => parts.write(prettyLine(line, parts)) : parts.write;
  return pino(
    {
      level: parts.level,
      base: null,
      timestamp: () => `,"time":"${new Date(parts.now()).toISOString()}"`,
      formatters: {
        level: label => ({ level: label }),
        log: facts => redact(facts) as Record<string, unknown>,
      },
      // Errors are serialised above: pino would report the copy as an error of the class "Object".
      serializers: { err: value => value },
      hooks: {
        logMethod([facts, text], write) {
          write.call(this, facts, scrub(String(text)));
        },
      },
    },
    { write },
  );
}

const STYLES = { trace: "dim", debug: "dim", info: "cyan", warn: "yellow", error: "red" } as const;

/** `12:03:04 warn  the text  agent=echo`, and below it the stack of an error. */
function prettyLine(line: string, parts: LogOptions): string {
  const { level, time, msg, ...facts } = JSON.parse(line) as Record<string, unknown>;
  const style = STYLES[level as keyof typeof STYLES];
  const paint = (name: Parameters<typeof styleText>[0], text: string) =>
    parts.colour && text !== "" ? styleText(name, text, { validateStream: false }) : text;
  const clock = new Date(String(time)).toTimeString().slice(0, 8);
  const fields = Object.entries(facts).map(([key, value]) => fact(key, value));
  const tail = fields.map(one => paint("dim", one)).join("");
  return `${paint("dim", clock)} ${paint(style, String(level).padEnd(5))} ${msg ?? ""}${tail}\n`;
}

function fact(key: string, value: unknown): string {
  const stack = stackOf(value);
  if (stack !== undefined) return `\n  ${stack.replaceAll("\n", "\n  ")}`;
  return `  ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`;
}

interface LoggedError {
  readonly stack?: unknown;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
}

/** The stack of a redacted error, then those of its causes and of its aggregated errors. */
function stackOf(value: unknown): string | undefined {
  const { stack, cause, errors = [] } = (value ?? {}) as LoggedError;
  if (typeof stack !== "string") return undefined;
  const others = [cause, ...errors].flatMap(one => stackOf(one) ?? []);
  return [stack, ...others].join("\ncaused by: ");
}
