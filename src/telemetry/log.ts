import { styleText } from "node:util";
import { pino } from "pino";
import type { Log } from "../ports/index.ts";
import type { LevelSwitch } from "./level.ts";
import { redact, scrub } from "./redact.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogParts {
  readonly level: LogLevel;
  /** For a person at a terminal; else one JSON object per line. */
  readonly pretty: boolean;
  readonly colour: boolean;
  now(): number;
  write(text: string): void;
}

/** The server's log: JSON for machines, lines for people; what looks like a secret is left out. */
export function createLog(parts: LogParts): Log & LevelSwitch {
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
      // What pino would make of an error has been made above: it takes the copy for an error of the class "Object".
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
function prettyLine(line: string, parts: LogParts): string {
  const { level, time, msg, ...facts } = JSON.parse(line) as Record<string, unknown>;
  const style = STYLES[level as keyof typeof STYLES];
  const paint = (name: Parameters<typeof styleText>[0], text: string) =>
    parts.colour && text !== "" ? styleText(name, text, { validateStream: false }) : text;
  const clock = new Date(String(time)).toTimeString().slice(0, 8);
  const told = Object.entries(facts).map(([key, value]) => fact(key, value));
  const tail = told.map(one => paint("dim", one)).join("");
  return `${paint("dim", clock)} ${paint(style, String(level).padEnd(5))} ${msg ?? ""}${tail}\n`;
}

function fact(key: string, value: unknown): string {
  const stack = stackOf(value);
  if (stack !== undefined) return `\n  ${stack.replaceAll("\n", "\n  ")}`;
  return `  ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`;
}

interface ToldError {
  readonly stack?: unknown;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
}

/** The stack of an error that was redacted, and below it those of its causes and of the errors it stands for. */
function stackOf(value: unknown): string | undefined {
  const { stack, cause, errors = [] } = (value ?? {}) as ToldError;
  if (typeof stack !== "string") return undefined;
  const others = [cause, ...errors].flatMap(one => stackOf(one) ?? []);
  return [stack, ...others].join("\ncaused by: ");
}
