/** The worker of a graph: a process that is started when it is needed, and again after it has ended. */
import type { Json, JsonObject } from "../../../lib/json.ts";
import type { Command } from "../../shared/child.ts";
import { WorkerExit } from "./python-error.ts";
import { type Greeting, type RequestListener, WorkerProcess } from "./worker-process.ts";

export interface WorkerParts {
  readonly command: Command;
  /** How long the import of the graph may take. */
  readonly importMs: number;
  /** How long a process stays without requests. */
  readonly idleMs: number;
}

const NO_LISTENER: RequestListener = {
  onChunk() {},
  onUsage() {},
  onCall: async () => Promise.reject(new Error("this request has no checkpoints")),
};

export class Worker {
  readonly #parts: WorkerParts;
  #process: WorkerProcess | undefined;
  #greeting: Promise<Greeting> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  /** Called for each line that the graph prints. */
  onPrinted: (line: string) => void = () => {};

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  /** Starts the process, if it does not run. */
  greeting(): Promise<Greeting> {
    if (!this.#greeting || this.#process?.hasExited) {
      const started = new WorkerProcess(this.#parts.command, line => this.onPrinted(line));
      started.onIdle = () => this.#startIdleTimer(started);
      this.#process = started;
      this.#greeting = started.greeting(this.#parts.importMs);
      this.#greeting.then(
        ({ type }) => (type === "ready" ? started.isIdle && this.#startIdleTimer(started) : started.kill()),
        () => {},
      );
    }
    return this.#greeting;
  }

  async request(
    type: string,
    members: JsonObject,
    listener: RequestListener = NO_LISTENER,
    signal?: AbortSignal,
  ): Promise<Json> {
    const greeting = await this.greeting();
    if (greeting.type === "failed")
      throw new WorkerExit(`The graph no longer loads: ${greeting.error.message}`);
    clearTimeout(this.#idleTimer);
    return (this.#process as WorkerProcess).request(type, members, listener, signal);
  }

  #startIdleTimer(started: WorkerProcess): void {
    clearTimeout(this.#idleTimer);
    const retire = (): void => {
      if (started !== this.#process || !started.isIdle) return;
      this.#greeting = undefined;
      started.close();
    };
    this.#idleTimer = setTimeout(retire, this.#parts.idleMs).unref();
  }
}
