import { styleText } from "node:util";

/** Standard output or standard error: a terminal, a pipe or a file. */
export interface OutputStream {
  readonly tty: boolean;
  readonly colour: boolean;
  readonly columns: number;
  write(text: string): void;
}

export type Signal = "SIGINT" | "SIGTERM" | "SIGUSR2";

/** Everything that a command uses of its process; tests pass one in memory. */
export interface Terminal {
  readonly out: OutputStream;
  readonly err: OutputStream;
  /** All three standard streams are a terminal, so the user can answer questions. */
  readonly interactive: boolean;
  readonly cwd: string;
  /** How the user starts this program, for hints. */
  readonly program: string;
  readonly version: string;
  /** The folder of this package. */
  readonly root: string;
  /** A variable of the environment. */
  variable(name: string): string | undefined;
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds since the start of the process. */
  sinceStartMs(): number;
  newId(): string;
  /** That many random bytes, as lower-case hex. */
  randomHex(bytes: number): string;
  /** Reads one line from the user; null: Ctrl-D or Ctrl-C. */
  ask(prompt: string, signal: AbortSignal): Promise<string | null>;
  /** The same without showing what the user types. */
  askSecret(prompt: string, signal: AbortSignal): Promise<string | null>;
  /** All of standard input; an error if it is longer. */
  readInput(bytesMax: number): Promise<string>;
  /** Returns a function that removes the listener. */
  onSignal(signal: Signal, listener: () => void): () => void;
  /** Returns a function that removes the listener. */
  onUnhandledRejection(listener: (error: unknown) => void): () => void;
  /** From now on an uncaught exception does not end the process. */
  onUncaughtException(listener: (error: unknown) => void): void;
  readonly fetch: typeof fetch;
}

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

export const paint = (screen: OutputStream, style: Style, text: string): string =>
  screen.colour && text !== "" ? styleText(style, text, { validateStream: false }) : text;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not reach a terminal.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Untrusted text for a terminal: control characters become visible and have no effect. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, control => {
    const code = control.charCodeAt(0);
    if (code === 13) return "";
    return code < 32 ? `^${String.fromCharCode(code + 64)}` : `\\x${code.toString(16)}`;
  });
}

/** Untrusted text as a single line. */
export const oneLine = (text: string): string => escapeControls(text.replace(/\s+/g, " ").trim());

/** Quotes a word for a POSIX shell if it needs quotes. */
export const quoteForShell = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
