import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { JsonObject } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import { readLines } from "./read-lines.ts";

export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** The time between closing standard input, SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** The maximum length of an output line. */
  readonly lineBytesMax: number;
}

export interface ExitReport {
  readonly isSuccess: boolean;
  /** Continues a message that begins with "The program …". */
  readonly description: string;
}

const STDERR_CHARS_MAX = 2_000;

/** One process with its process group; input and output are lines. */
export class Child {
  readonly #command: Command;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncGenerator<string>;
  /** The end of standard error, for the exit report. */
  #stderr = "";
  #timers: NodeJS.Timeout[] = [];
  /** Resolves when the process has exited and its output was read; never rejects. */
  readonly ended: Promise<ExitReport>;
  hasExited = false;
  /** Called for each line on standard error. */
  onError: (line: string) => void = () => {};

  constructor(command: Command) {
    this.#command = command;
    const [program, ...args] = command.argv;
    // A process group of its own, so that its child processes are killed with it.
    const options = { cwd: command.folder, env: command.env, detached: process.platform !== "win32" };
    this.#process = spawn(program, args, { ...options, stdio: "pipe", windowsHide: true });
    this.#lines = readLines(this.#process.stdout, command.lineBytesMax);
    this.ended = this.#watchExit();
    // A write error means that the process has exited, which `ended` reports.
    this.#process.stdin.on("error", () => {});
    this.#readErrors();
  }

  /** undefined: the output has ended. */
  async next(): Promise<string | undefined> {
    const { value, done } = await this.#lines.next();
    return done ? undefined : value;
  }

  /** Waits while the process does not read. false: it has exited. */
  send(line: JsonObject): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#process.stdin.write(`${JSON.stringify(line)}\n`, error => resolve(!error));
    return promise;
  }

  /** Lets the process exit by itself; stops it after the grace period. */
  closeInput(): void {
    this.#process.stdin.end();
    this.#afterGrace(() => this.stop());
  }

  stop(): void {
    this.kill("SIGTERM");
    this.#afterGrace(() => this.kill("SIGKILL"));
  }

  kill(signal: "SIGTERM" | "SIGKILL"): void {
    const { pid } = this.#process;
    try {
      if (pid !== undefined) process.kill(process.platform === "win32" ? pid : -pid, signal);
    } catch {
      // The process has exited already.
    }
  }

  /** Whether this process keeps the event loop of the server alive. */
  keepAlive(isKept: boolean): void {
    const { stdin, stdout, stderr } = this.#process;
    const handles = [this.#process, stdin, stdout, stderr] as unknown as readonly NodeJS.RefCounted[];
    for (const handle of handles) isKept ? handle.ref() : handle.unref();
  }

  #afterGrace(act: () => void): void {
    this.#timers.push(setTimeout(act, this.#command.graceMs).unref());
  }

  #watchExit(): Promise<ExitReport> {
    const { argv, folder } = this.#command;
    // Child processes that it left behind would keep its output open.
    this.#process.once("exit", () => this.kill("SIGKILL"));
    return new Promise<ExitReport>(resolve => {
      this.#process.on("error", error => {
        const description = `"${argv[0]}" could not be started in ${folder}: ${error.message}`;
        resolve({ isSuccess: false, description });
      });
      this.#process.once("close", (code, signal) => {
        const exit = signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
        const stderr =
          this.#stderr === "" ? "" : `. Last lines on standard error:\n${this.#stderr.trimEnd()}`;
        resolve({ isSuccess: code === 0, description: exit + stderr });
      });
    }).finally(() => {
      this.hasExited = true;
      for (const timer of this.#timers) clearTimeout(timer);
    });
  }

  #readErrors(): void {
    const { stderr } = this.#process;
    let rest = "";
    stderr.setEncoding("utf8");
    stderr.on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_CHARS_MAX);
      const lines = (rest + text).split(/\r?\n/);
      rest = (lines.pop() as string).slice(0, LIMITS.programLogCharsMax);
      for (const line of lines) if (line !== "") this.onError(line.slice(0, LIMITS.programLogCharsMax));
    });
    stderr.on("close", () => rest !== "" && this.onError(rest));
  }
}
