/** Servers as users start them: a separate process, started by the command line. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "./client.ts";
import { STORE_FLAGS, storeOf } from "./test-store.ts";

const MAIN = new URL("../../src/cli/main.ts", import.meta.url).pathname;
/** As for users of bin/dragoman.cjs: main.ts itself is cached, too, and the stripper of types is not loaded. */
const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache") };

export interface ChildOptions {
  readonly command?: "serve" | "dev";
  /** By default the sources. */
  readonly program?: string;
  /** Agent files, globs or folders; none: the bundled examples. */
  readonly agents?: readonly string[];
  readonly data: string;
  /** A restarted server uses the same port. */
  readonly port?: number;
  readonly flags?: readonly string[];
  /** The user to run as. */
  readonly uid?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Child {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** The JSON that the server printed when it was ready. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came back.
  readonly banner: any;
  readonly exited: Promise<Exit>;
  /** Everything on standard error so far: the log, one JSON object per line, and notes for people. */
  stderr(): string;
  /** SIGKILL: no cleanup. */
  kill(): Promise<Exit>;
  /** SIGTERM; resolves when the process has ended. */
  stop(): Promise<Exit>;
  signal(name: NodeJS.Signals): void;
}

/** A start takes a second; where many tests share a core, much longer. */
const START_MS = 170_000;

/**
 * Resolves when the server is ready; rejects with its output if it does not start. A given port is retried:
 * after a kill, a connection of another program may use it for a moment.
 */
export async function startChild(options: ChildOptions, tries = 100): Promise<Child> {
  const { process: child, output, exited } = launch({ ...options, data: await storeOf(options.data) });
  await until(() => output.out.includes("\n") || hasEnded(child), START_MS);
  if (hasEnded(child)) {
    const { code, signal } = await exited;
    if (options.port && tries > 0 && /Port \d+ is in use/.test(output.err)) {
      await sleep(100);
      return startChild(options, tries - 1);
    }
    throw new Error(`the server ended with ${code ?? signal}: ${output.err}`);
  }
  const banner = JSON.parse(output.out.slice(0, output.out.indexOf("\n")));
  const end = (name: NodeJS.Signals): Promise<Exit> => {
    child.kill(name);
    return exited;
  };
  return {
    banner,
    url: banner.url,
    port: Number(new URL(banner.url).port),
    pid: child.pid as number,
    exited,
    stderr: () => output.err,
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    signal: name => void child.kill(name),
  };
}

/** A start that is expected to fail. */
export async function refusedChild(options: ChildOptions): Promise<Exit & { out: string; err: string }> {
  const { process: child, output, exited } = launch({ ...options, data: await storeOf(options.data) });
  // A server that starts nevertheless must not outlive the test.
  await until(() => output.out.includes("\n") || hasEnded(child));
  child.kill("SIGKILL");
  return { ...(await exited), out: output.out, err: output.err };
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

function launch(options: ChildOptions): {
  process: ChildProcess;
  output: { out: string; err: string };
  exited: Promise<Exit>;
} {
  const {
    command = "serve",
    program = MAIN,
    agents = [],
    data,
    port = 0,
    flags = [],
    uid,
    env = {},
  } = options;
  if (Number.parseInt(process.versions.node, 10) < 22)
    throw new Error(`start the tests through npm: Node ${process.version} is too old to run the sources`);
  const args = [
    command,
    ...agents,
    "--data",
    data,
    "--port",
    String(port),
    "--json",
    ...STORE_FLAGS,
    ...flags,
  ];
  const child = spawn(process.execPath, [program, ...args], {
    cwd: "/",
    env: { ...process.env, ...COMPILE_CACHE, NODE_OPTIONS: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  const output = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", text => (output.out += text));
  child.stderr.setEncoding("utf8").on("data", text => (output.err += text));
  children.add(child);
  const exited = once(child, "close").then(([code, signal]): Exit => {
    children.delete(child);
    return { code, signal };
  });
  return { process: child, output, exited };
}

const children = new Set<ChildProcess>();

/** For afterEach: a test that failed half-way leaves no server behind. */
export async function endChildren(): Promise<void> {
  const ends = [...children].map(child => once(child, "close"));
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(ends);
}

/** Writes an agent file; `body` is the body of `run(task, ctx)`. */
export function writeAgent(folder: string, name: string, body: string, options: object = {}): string {
  const file = join(folder, `${name}.ts`);
  const text = `import { setTimeout as sleep } from "node:timers/promises";
import { agent } from "dragoman";
export default agent({
  name: ${JSON.stringify(name)},
  ...${JSON.stringify(options)},
  async *run(task, ctx) {
${body}
  },
});
`;
  writeFileSync(file, text);
  return file;
}
