/** One Python process that serves the requests of a graph: docs/reference/program-protocol.md. */
import type { Json, JsonObject } from "../../../lib/json.ts";
import { Child, type Command } from "../../shared/child.ts";
import { PythonError, type PythonErrorFacts, WorkerExit } from "./python-error.ts";

/** The first line of a process. */
export type Greeting =
  | { readonly type: "ready"; readonly facts: JsonObject; readonly files: readonly string[] }
  | { readonly type: "failed"; readonly missing?: string; readonly error: PythonErrorFacts };

/** What a request gets while it runs. */
export interface RequestListener {
  onChunk(chunk: Json): void;
  onUsage(usage: JsonObject): void;
  /** The graph calls its checkpointer or its store. */
  onCall(method: string, parameters: readonly Json[]): Promise<unknown>;
}

interface Line {
  readonly type: string;
  readonly id: number;
  readonly chunk: Json;
  readonly value: Json;
  readonly usage: JsonObject;
  readonly error: PythonErrorFacts;
  readonly call: number;
  readonly method: string;
  readonly arguments: readonly Json[];
}

interface Pending {
  readonly listener: RequestListener;
  resolve(value: Json): void;
  reject(error: unknown): void;
}

/** A process whose event loop does not answer a cancel within this time is killed: its other runs are resumed. */
const CANCEL_MS_MAX = 10_000;

export class WorkerProcess {
  readonly #child: Child;
  readonly #pending = new Map<number, Pending>();
  readonly #greeting = Promise.withResolvers<Greeting>();
  #count = 0;
  #exit: WorkerExit | undefined;
  /** Called when the last request has ended. */
  onIdle: () => void = () => {};

  constructor(command: Command, onError: (line: string) => void) {
    this.#child = new Child(command);
    this.#child.onError = onError;
    this.#greeting.promise.catch(() => {});
    killAtExit(this.#child);
    this.#read().catch(error => this.#end(error));
  }

  get hasExited(): boolean {
    return this.#exit !== undefined || this.#child.hasExited;
  }

  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  /** Rejects if there is none within `ms`, and stops the process. */
  async greeting(ms: number): Promise<Greeting> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new WorkerExit(`did not import the graph within ${ms} ms`)), ms);
    });
    try {
      const greeting = await Promise.race([this.#greeting.promise, timeout]);
      this.#child.keepAlive(false);
      return greeting;
    } catch (error) {
      this.kill();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async request(
    type: string,
    members: JsonObject,
    listener: RequestListener,
    signal?: AbortSignal,
  ): Promise<Json> {
    signal?.throwIfAborted();
    if (this.#exit) throw this.#exit;
    const id = ++this.#count;
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    const cancel = (): void => {
      this.#child.send({ type: "cancel", id });
      this.#killUnlessEnded(id);
      reject(signal?.reason);
    };
    this.#pending.set(id, { listener, resolve, reject });
    this.#child.keepAlive(true);
    signal?.addEventListener("abort", cancel, { once: true });
    this.#child.send({ type, id, ...members });
    return promise.finally(() => signal?.removeEventListener("abort", cancel));
  }

  /** Lets the process end by itself. */
  close(): void {
    this.#child.closeInput();
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #killUnlessEnded(id: number): void {
    const timer = setTimeout(() => this.#pending.has(id) && this.kill(), CANCEL_MS_MAX);
    timer.unref();
  }

  async #read(): Promise<void> {
    for (let text = await this.#child.next(); text !== undefined; text = await this.#child.next())
      this.#onLine(JSON.parse(text) as Line);
    const { description } = await this.#child.ended;
    this.#end(new WorkerExit(`The Python process of the graph ${description}`));
  }

  #onLine(line: Line): void {
    if (line.type === "ready" || line.type === "failed")
      return this.#greeting.resolve(line as unknown as Greeting);
    const pending = this.#pending.get(line.id);
    if (line.type === "call") return void this.#answer(line, pending);
    if (!pending) return;
    if (line.type === "chunk") return pending.listener.onChunk(line.chunk);
    if (line.type === "usage") return pending.listener.onUsage(line.usage);
    if (line.type === "result") pending.resolve(line.value);
    else pending.reject(new PythonError(line.error));
    this.#pending.delete(line.id);
    if (this.#pending.size > 0) return;
    this.#child.keepAlive(false);
    this.onIdle();
  }

  async #answer(line: Line, pending: Pending | undefined): Promise<void> {
    const answer = { type: "answer", call: line.call };
    try {
      if (!pending) throw new Error("the request has ended");
      const value = await pending.listener.onCall(line.method, line.arguments);
      await this.#child.send({ ...answer, value: (value ?? null) as Json });
    } catch (error) {
      await this.#child.send({ ...answer, error: error instanceof Error ? error.message : String(error) });
    }
  }

  #end(error: unknown): void {
    const exit = error instanceof WorkerExit ? error : new WorkerExit(`broke the protocol: ${String(error)}`);
    this.#exit = exit;
    this.kill();
    this.#greeting.reject(exit);
    for (const { reject } of this.#pending.values()) reject(exit);
    this.#pending.clear();
    this.onIdle();
  }
}

/** The process is killed when this one exits. If this one gets SIGKILL, it ends with its input. */
function killAtExit(child: Child): void {
  const kill = (): void => child.kill("SIGKILL");
  process.setMaxListeners(process.getMaxListeners() + 1);
  process.on("exit", kill);
  child.ended.then(() => {
    process.off("exit", kill);
    process.setMaxListeners(process.getMaxListeners() - 1);
  });
}
