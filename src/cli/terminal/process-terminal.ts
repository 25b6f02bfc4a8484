import { randomBytes } from "node:crypto";
import { relative } from "node:path";
import type { Readable } from "node:stream";
import type { WriteStream } from "node:tty";
import { ClientError } from "./errors.ts";
import type { OutputStream, Terminal } from "./terminal.ts";

/** The terminal of a process; everything that commands may know of it. */
export function createTerminal(parts: {
  process: NodeJS.Process;
  version: string;
  now: () => number;
  sinceStartMs: () => number;
  fetch: typeof fetch;
}): Terminal {
  const { process: own } = parts;
  return {
    out: toScreen(own.stdout),
    err: toScreen(own.stderr),
    interactive: Boolean(own.stdin.isTTY && own.stdout.isTTY && own.stderr.isTTY),
    cwd: own.cwd(),
    program: programName(own.argv[1] ?? "", own.execPath, own.cwd()),
    version: parts.version,
    now: parts.now,
    sinceStartMs: parts.sinceStartMs,
    fetch: parts.fetch,
    newId: () => crypto.randomUUID(),
    randomHex: bytes => randomBytes(bytes).toString("hex"),
    ask: (prompt, signal) => ask(own.stdin, own.stderr, prompt, signal),
    readInput: bytesMax => readInput(own.stdin, bytesMax),
    onSignal(signal, listener) {
      // Windows has none but those with which programs are stopped.
      if (signal === "SIGUSR2" && own.platform === "win32") return () => undefined;
      own.on(signal, listener);
      return () => own.off(signal, listener);
    },
    onUnhandledRejection(listener) {
      own.on("unhandledRejection", listener);
      return () => own.off("unhandledRejection", listener);
    },
  };
}

const toScreen = (stream: WriteStream): OutputStream => ({
  tty: stream.isTTY === true,
  // Node looks at NO_COLOR, FORCE_COLOR and TERM here.
  colour: stream.isTTY === true && stream.hasColors(),
  get columns() {
    return stream.columns ?? 80;
  },
  write: text => void stream.write(text),
});

/** What to type for this program: its name, or the way from the sources. */
export function programName(entry: string, node: string, cwd: string): string {
  if (!entry.endsWith(".ts")) return "dragoman";
  const path = relative(cwd, entry);
  const script = path.startsWith("..") ? entry : path;
  // The machine's own Node may be too old to run the sources; npx takes the one that is installed here.
  return `${node.includes("node_modules") ? "npx node" : "node"} ${script}`;
}

async function ask(
  input: NodeJS.ReadStream,
  output: WriteStream,
  prompt: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input, output });
  return new Promise(resolve => {
    let answer: string | null = null;
    lines.once("SIGINT", () => lines.close());
    lines.once("close", () => {
      // The prompt is still waiting on its line.
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
