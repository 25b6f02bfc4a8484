import { styleText } from "node:util";

/** One stream to a person or a pipe. */
export interface OutputStream {
  readonly tty: boolean;
  readonly colour: boolean;
  readonly columns: number;
  write(text: string): void;
}

export type Signal = "SIGINT" | "SIGTERM" | "SIGUSR2";

/** All that a command knows of the world around it; handed in, so that a story replays. */
export interface Terminal {
  readonly out: OutputStream;
  readonly err: OutputStream;
  /** Somebody is there to answer a question. */
  readonly interactive: boolean;
  readonly cwd: string;
  /** How the user starts this program, for commands to paste. */
  readonly program: string;
  readonly version: string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds since this process began. */
  sinceStartMs(): number;
  newId(): string;
  /** That many bytes of chance, as lower-case hex. */
  randomHex(bytes: number): string;
  /** One line that the user typed; null: there will be none (Ctrl-D, Ctrl-C). */
  ask(prompt: string, signal: AbortSignal): Promise<string | null>;
  /** All of standard input, at most so many bytes. */
  readInput(bytesMax: number): Promise<string>;
  /** Calls back at each such signal, until the returned function is called. */
  onSignal(signal: Signal, listener: () => void): () => void;
  /** Calls back for promises that failed with nobody waiting, until the returned function is called. */
  onUnhandledRejection(listener: (error: unknown) => void): () => void;
  readonly fetch: typeof fetch;
}

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

export const paint = (screen: OutputStream, style: Style, text: string): string =>
  screen.colour && text !== "" ? styleText(style, text, { validateStream: false }) : text;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Text of a stranger for a terminal: control characters are shown, not obeyed. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, control => {
    const code = control.charCodeAt(0);
    if (code === 13) return "";
    return code < 32 ? `^${String.fromCharCode(code + 64)}` : `\\x${code.toString(16)}`;
  });
}

/** Text of a stranger as a single line. */
export const oneLine = (text: string): string => escapeControls(text.replace(/\s+/g, " ").trim());

/** A word as a shell takes it, quoted where needed. */
export const quoteForShell = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
