/** The deadline of a call to another agent. */
import type { Ctx } from "../../agent/context.ts";
import { SERVER_CALL_LIMITS } from "../../client/limits.ts";

export class DeadlineError extends Error {
  override readonly name = "DeadlineError";
}

/** The task is canceled; an abort with another reason means that the server stops and resumes the task after its restart. */
export const isCanceled = ({ signal }: Pick<Ctx, "signal">): boolean =>
  signal.aborted && (signal.reason as { readonly code?: unknown } | undefined)?.code === "canceled";

/** Aborts its signal when the run is aborted, or when the timeout has passed. */
export class Deadline {
  readonly #cleared = new AbortController();
  readonly #expired = new AbortController();
  #isSent = false;
  /** Set before `signal` is aborted: a cancel waits for the message to be sent. */
  #reason: unknown;

  /** `timeoutMs` also counts across restarts; undefined: no timeout. */
  constructor(ctx: Ctx, timeoutMs: number | undefined) {
    const { signal } = this.#cleared;
    const error = new DeadlineError(`The other agent did not finish in ${timeoutMs} ms`);
    if (timeoutMs !== undefined)
      ctx.sleep(timeoutMs, { signal }).then(
        () => this.#expire(error, true),
        () => undefined,
      );
    const stop = (): void => this.#expire(ctx.signal.reason, isCanceled(ctx));
    if (ctx.signal.aborted) stop();
    else ctx.signal.addEventListener("abort", stop, { once: true, signal });
  }

  get isExceeded(): boolean {
    return this.#reason instanceof DeadlineError;
  }

  get signal(): AbortSignal {
    return this.#expired.signal;
  }

  /** The message has been sent: from now on there is a task to cancel. */
  markSent(): void {
    this.#isSent = true;
    if (this.#reason !== undefined) this.#expired.abort(this.#reason);
  }

  clear(): void {
    this.#cleared.abort();
  }

  /** `cancels`: waits a little for the response to the message, which contains the id of the task to cancel. */
  #expire(reason: unknown, cancels: boolean): void {
    this.#reason ??= reason;
    const waitMs = cancels && !this.#isSent ? SERVER_CALL_LIMITS.cancelMs / 2 : 0;
    setTimeout(() => this.#expired.abort(reason), waitMs).unref();
  }
}
