import { isMainThread, type MessagePort, parentPort, Worker, workerData } from "node:worker_threads";
import { StoreRefusal } from "./open.ts";

/** What is done in threads of their own, because it takes long: each is a module with a function `work`. */
const JOBS = {
  keep: () => import("./maintenance-thread.ts"),
  examine: () => import("./maintenance/check.ts"),
  copy: () => import("./maintenance/backup.ts"),
} as const;

export type JobName = keyof typeof JOBS;

interface Order {
  readonly dragomanJob: JobName;
  readonly given: never;
}

/** Starts a thread with one of the jobs above; `given` is handed to it. */
export function startThread(job: JobName, given: object): Worker {
  return new Worker(new URL(import.meta.url), { workerData: { dragomanJob: job, given } });
}

/** What a job that comes to an end says: how far it is, what came of it, or why it cannot be done. */
export type Told<Result> =
  | { readonly kind: "progress"; readonly done: number; readonly total: number }
  | { readonly kind: "result"; readonly result: Result }
  | { readonly kind: "refusal"; readonly message: string };

export interface Watch {
  readonly onProgress: (done: number, total: number) => void;
  /** Ends the waiting; the thread ends with the process, if not before. */
  readonly signal: AbortSignal;
}

/** Has a job done in a thread of its own; the value is what came of it. */
export function runThread<Result>(job: JobName, given: object, watch: Watch): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const thread = startThread(job, given);
  thread.on("message", (told: Told<Result>) => {
    if (told.kind === "progress") watch.onProgress(told.done, told.total);
    else if (told.kind === "result") resolve(told.result);
    else reject(new StoreRefusal(told.message));
  });
  thread.once("error", reject);
  const leave = (): void => {
    thread.terminate();
    reject(watch.signal.reason);
  };
  watch.signal.addEventListener("abort", leave, { once: true });
  return promise.finally(() => watch.signal.removeEventListener("abort", leave));
}

/** In the thread: does the job and tells what came of it. */
export function tell<Result>(port: MessagePort, job: (say: (told: Told<Result>) => void) => Result): void {
  const say = (told: Told<Result>): void => port.postMessage(told);
  try {
    say({ kind: "result", result: job(say) });
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    say({ kind: "refusal", message: error.message });
  } finally {
    port.close();
  }
}

async function work({ dragomanJob, given }: Order, port: MessagePort): Promise<void> {
  const job = await JOBS[dragomanJob]();
  job.work(given, port);
}

const order = isMainThread ? null : (workerData as Partial<Order> | null);
if (order?.dragomanJob && parentPort) work(order as Order, parentPort);
