import { fileURLToPath } from "node:url";
import type { OutputStream, Signal, Terminal } from "./terminal.ts";

/** A terminal in memory: tests read the output, answer prompts and send signals. */
export interface MemoryTerminal extends Terminal {
  readonly written: { out: string; err: string };
  /** Prompts that were shown to the user. */
  readonly prompts: readonly string[];
  sendSignal(signal: Signal): void;
}

export interface MemoryTerminalParts {
  readonly tty: boolean;
  readonly answers: readonly string[];
  readonly input: string;
  readonly cwd: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  now(): number;
}

export function createMemoryTerminal(parts: MemoryTerminalParts): MemoryTerminal {
  const written = { out: "", err: "" };
  const prompts: string[] = [];
  const answers = [...parts.answers];
  const listeners = new Set<{ signal: Signal; listener: () => void }>();
  let ids = 0;
  return {
    written,
    prompts,
    out: toOutputStream(written, "out", parts.tty),
    err: toOutputStream(written, "err", parts.tty),
    interactive: parts.tty,
    cwd: parts.cwd,
    program: "dragoman",
    version: "0.0.0",
    root: fileURLToPath(new URL("../../..", import.meta.url)),
    variable: name => parts.variables?.[name],
    now: parts.now,
    sinceStartMs: () => 42,
    fetch: parts.fetch,
    newId: () => `m${++ids}`,
    randomHex: bytes => (++ids).toString(16).padStart(2 * bytes, "0"),
    ask: async prompt => {
      prompts.push(prompt);
      return answers.shift() ?? null;
    },
    askSecret: async prompt => {
      prompts.push(prompt);
      return answers.shift() ?? null;
    },
    readInput: async () => parts.input,
    onSignal(signal, listener) {
      const entry = { signal, listener };
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    onUncaughtException: () => undefined,
    onUnhandledRejection: () => () => undefined,
    sendSignal(signal) {
      for (const entry of [...listeners]) if (entry.signal === signal) entry.listener();
    },
  };
}

const toOutputStream = (
  written: { out: string; err: string },
  name: "out" | "err",
  tty: boolean,
): OutputStream => ({
  tty,
  colour: false,
  columns: 100,
  write: text => {
    written[name] += text;
  },
});
