import { styleText } from "node:util";
import { pino, stdSerializers } from "pino";
import type { Log } from "../ports.ts";

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent";

export interface LogParts {
  readonly level: LogLevel;
  /** For a person at a terminal; else one JSON object per line. */
  readonly pretty: boolean;
  readonly colour: boolean;
  now(): number;
  write(text: string): void;
}

/** The server's log: JSON for machines, lines for people. */
export function createLog(parts: LogParts): Log {
  const write = parts.pretty ? (line: string) => parts.write(prettyLine(line, parts)) : parts.write;
  return pino(
    {
      level: parts.level,
      base: null,
      timestamp: () => `,"time":"${new Date(parts.now()).toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
      serializers: { error: stdSerializers.err, err: stdSerializers.err, cause: stdSerializers.err },
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
  const stack = (value as { stack?: unknown } | null)?.stack;
  if (typeof stack === "string") return `\n  ${stack.replaceAll("\n", "\n  ")}`;
  return `  ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`;
}
