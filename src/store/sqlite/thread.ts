import { getCompileCacheDir } from "node:module";
import { isMainThread, type MessagePort, parentPort, Worker, workerData } from "node:worker_threads";
import { StartupError } from "../../lib/startup-error.ts";
import type { JobObserver } from "../../ports/index.ts";

/** A long job, run in a thread of its own by the module that calls `serveJob`. */
export interface ThreadJob {
  readonly name: string;
  /** The URL of that module. */
  readonly url: string;
}

/**
 * A thread has a cache of compiled code only if it enables it itself, before its first module. Without the cache, each start of a
 * thread from the sources loads the stripper of types, which takes 130 ms (docs/decisions/0036).
 */
const START = `const { url, isCached } = require("node:worker_threads").workerData;
if (isCached) require("node:module").enableCompileCache();
import(url);`;

/** `input` must be cloneable. */
export function startThread({ name, url }: ThreadJob, input: object): Worker {
  const isCached = getCompileCacheDir() !== undefined;
  return new Worker(START, { eval: true, workerData: { dragomanJob: name, url, isCached, input } });
}

/** To be called by the module of a job, at its end: runs `work` if this thread was started for the job. */
export function serveJob<Input>(job: ThreadJob, work: (input: Input, port: MessagePort) => void): void {
  const data = isMainThread ? null : (workerData as { dragomanJob?: string; input: Input } | null);
  if (parentPort && data?.dragomanJob === job.name) work(data.input, parentPort);
}

/** Messages of a job that ends. */
export type ThreadMessage<Result> =
  | { readonly kind: "progress"; readonly done: number; readonly total: number }
  | { readonly kind: "result"; readonly result: Result }
  | { readonly kind: "startup-error"; readonly message: string };

/** An abort terminates the thread. */
export function runThread<Result>(
  job: ThreadJob,
  input: object,
  { onProgress, signal }: JobObserver,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const thread = startThread(job, input);
  thread.on("message", (message: ThreadMessage<Result>) => {
    if (message.kind === "progress") onProgress(message.done, message.total);
    else if (message.kind === "result") resolve(message.result);
    else reject(new StartupError(message.message));
  });
  thread.once("error", reject);
  const abort = (): void => {
    thread.terminate();
    reject(signal.reason);
  };
  signal.addEventListener("abort", abort, { once: true });
  return promise.finally(() => signal.removeEventListener("abort", abort));
}

/** Called in the thread: runs the job and posts its result. */
export function runJob<Result>(
  port: MessagePort,
  job: (post: (message: ThreadMessage<Result>) => void) => Result,
): void {
  const post = (message: ThreadMessage<Result>): void => port.postMessage(message);
  try {
    post({ kind: "result", result: job(post) });
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    post({ kind: "startup-error", message: error.message });
  } finally {
    port.close();
  }
}
