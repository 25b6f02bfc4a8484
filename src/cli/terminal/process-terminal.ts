import { type Readable, Writable } from "node:stream";
import type { WriteStream } from "node:tty";
import { ClientError } from "./errors.ts";
import { programName } from "./program-name.ts";
import type { OutputStream, Terminal } from "./terminal.ts";

/** The terminal of a real process. */
export function createTerminal(parts: {
  process: NodeJS.Process;
  version: string;
  /** The folder of this package. */
  root: string;
  variable: (name: string) => string | undefined;
  now: () => number;
  sinceStartMs: () => number;
  fetch: typeof fetch;
}): Terminal {
  const { process: own } = parts;
  return {
    out: toOutputStream(own.stdout),
    err: toOutputStream(own.stderr),
    interactive: Boolean(own.stdin.isTTY && own.stdout.isTTY && own.stderr.isTTY),
    cwd: own.cwd(),
    program: programName({ script: own.argv[1] ?? "", root: parts.root, cwd: own.cwd() }),
    version: parts.version,
    root: parts.root,
    variable: parts.variable,
    now: parts.now,
    sinceStartMs: parts.sinceStartMs,
    fetch: parts.fetch,
    newId: () => crypto.randomUUID(),
    // Not with node:crypto: a start would load all of it.
    randomHex: bytes => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex"),
    ask: (prompt, signal) => ask(own.stdin, own.stderr, own.stderr, prompt, signal),
    askSecret: (prompt, signal) => askSecret(own.stdin, own.stderr, prompt, signal),
    readInput: bytesMax => readInput(own.stdin, bytesMax),
    onSignal(signal, listener) {
      // Windows supports only the signals that stop a program.
      if (signal === "SIGUSR2" && own.platform === "win32") return () => undefined;
      own.on(signal, listener);
      return () => own.off(signal, listener);
    },
    onUncaughtException(listener) {
      own.on("uncaughtException", listener);
    },
    onUnhandledRejection(listener) {
      own.on("unhandledRejection", listener);
      return () => own.off("unhandledRejection", listener);
    },
  };
}

const toOutputStream = (stream: WriteStream): OutputStream => ({
  tty: stream.isTTY === true,
  // Node considers NO_COLOR, FORCE_COLOR and TERM here.
  colour: stream.isTTY === true && stream.hasColors(),
  get columns() {
    return stream.columns ?? 80;
  },
  write: text => void stream.write(text),
});

/** Shows the prompt, and nothing that is typed after it: readline writes both to one stream, with codes before the prompt. */
async function askSecret(
  input: NodeJS.ReadStream,
  output: WriteStream,
  prompt: string,
  signal: AbortSignal,
): Promise<string | null> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  output.write(prompt);
  const answer = await ask(input, output, nowhere, "", signal);
  if (answer !== null) output.write("\n");
  return answer;
}

/** `echo`: where the prompt and the typed characters are shown. */
async function ask(
  input: NodeJS.ReadStream,
  output: WriteStream,
  echo: NodeJS.WritableStream,
  prompt: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input, output: echo, terminal: output.isTTY === true });
  return new Promise(resolve => {
    let answer: string | null = null;
    lines.once("SIGINT", () => lines.close());
    lines.once("close", () => {
      // End the line of the prompt.
      if (answer === null) output.write("\n");
      resolve(answer);
    });
    signal.addEventListener("abort", () => lines.close(), { once: true });
    lines.question(prompt, text => {
      answer = text;
      lines.close();
    });
  });
}

async function readInput(input: Readable, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > bytesMax) throw new ClientError(`Standard input is larger than ${bytesMax} bytes`);
  }
  return Buffer.concat(chunks).toString("utf8");
}
