import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { JsonObject } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import { readLines } from "./read-lines.ts";

export interface Command {
  readonly words: readonly [string, ...string[]];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Between the wish that it ends, the order, and the end. */
  readonly graceMs: number;
}

/** How a process ended: the words go on from "The program …". */
export interface End {
  readonly isGood: boolean;
  readonly how: string;
}

const TAIL_CHARS_MAX = 2_000;

/** One process with its process group: what it says in lines, and what it is told in lines. */
export class Child {
  readonly #command: Command;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncGenerator<string>;
  #tail = "";
  #timers: NodeJS.Timeout[] = [];
  /** Resolves when the process is gone and all that it said was heard; never rejects. */
  readonly ended: Promise<End>;
  isOver = false;
  /** Gets what it writes to standard error, line by line. */
  onError: (line: string) => void = () => {};

  constructor(command: Command) {
    this.#command = command;
    const [program, ...words] = command.words;
    // A group of its own, so that what it starts can be ended with it.
    const options = { cwd: command.folder, env: command.env, detached: process.platform !== "win32" };
    this.#process = spawn(program, words, { ...options, stdio: "pipe", windowsHide: true });
    this.#lines = readLines(this.#process.stdout, LIMITS.programLineBytesMax);
    this.ended = this.#watch();
    // What cannot be written any more is known from the end of the process.
    this.#process.stdin.on("error", () => {});
    this.#hearErrors();
  }

  /** undefined: it has said all. */
  async next(): Promise<string | undefined> {
    const { value, done } = await this.#lines.next();
    return done ? undefined : value;
  }

  /** Waits while the process does not read. false: it no longer can. */
  send(line: JsonObject): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#process.stdin.write(`${JSON.stringify(line)}\n`, error => resolve(!error));
    return promise;
  }

  /** It may end by itself: nothing more will be told to it. */
  release(): void {
    this.#process.stdin.end();
    this.#later(() => this.stop());
  }

  /** It must end. */
  stop(): void {
    this.kill("SIGTERM");
    this.#later(() => this.kill("SIGKILL"));
  }

  kill(signal: "SIGTERM" | "SIGKILL"): void {
    const { pid } = this.#process;
    try {
      if (pid !== undefined) process.kill(process.platform === "win32" ? pid : -pid, signal);
    } catch {
      // It is gone already.
    }
  }

  /** Whether a program that has nothing else to do waits for this process. */
  hold(isHeld: boolean): void {
    const { stdin, stdout, stderr } = this.#process;
    const handles = [this.#process, stdin, stdout, stderr] as unknown as readonly NodeJS.RefCounted[];
    for (const handle of handles) isHeld ? handle.ref() : handle.unref();
  }

  #later(act: () => void): void {
    this.#timers.push(setTimeout(act, this.#command.graceMs).unref());
  }

  #watch(): Promise<End> {
    const { words, folder } = this.#command;
    // What it has started and left behind would keep its output open.
    this.#process.once("exit", () => this.kill("SIGKILL"));
    return new Promise<End>(resolve => {
      this.#process.on("error", error =>
        resolve({ isGood: false, how: `"${words[0]}" could not be started in ${folder}: ${error.message}` }),
      );
      this.#process.once("close", (code, signal) => {
        const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
        resolve({ isGood: code === 0, how: how + this.#lastWords() });
      });
    }).finally(() => {
      this.isOver = true;
      for (const timer of this.#timers) clearTimeout(timer);
    });
  }

  #lastWords(): string {
    return this.#tail === "" ? "" : `. Its last words on standard error:\n${this.#tail.trimEnd()}`;
  }

  #hearErrors(): void {
    const { stderr } = this.#process;
    let rest = "";
    stderr.setEncoding("utf8");
    stderr.on("data", (text: string) => {
      this.#tail = (this.#tail + text).slice(-TAIL_CHARS_MAX);
      const lines = (rest + text).split(/\r?\n/);
      rest = (lines.pop() as string).slice(0, LIMITS.programLogCharsMax);
      for (const line of lines) if (line !== "") this.onError(line.slice(0, LIMITS.programLogCharsMax));
    });
    stderr.on("close", () => rest !== "" && this.onError(rest));
  }
}
