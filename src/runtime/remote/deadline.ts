/** How long the answer of another agent is waited for. */
import type { Ctx } from "../../agent/definition.ts";
import { CLIENT_LIMITS } from "../../client/limits.ts";

/** The time that an agent had is over. */
export class Late extends Error {
  override readonly name = "Late";
}

/** Whether the task is canceled; else it is this server that stops, and the work goes on after a start. */
export const isCanceled = ({ signal }: Pick<Ctx, "signal">): boolean =>
  signal.aborted && (signal.reason as { readonly code?: unknown } | undefined)?.code === "canceled";

/** Ends the waiting when the run ends, or when the time is over. */
export class Leash {
  readonly #done = new AbortController();
  readonly #cut = new AbortController();
  #sent = false;
  /** Why the waiting ends, from the moment on that it shall end. */
  #reason: unknown;

  /** `timeoutMs` counts over restarts, too; undefined: as long as it takes. */
  constructor(ctx: Ctx, timeoutMs: number | undefined) {
    const { signal } = this.#done;
    const late = new Late(`The other agent did not come to an end in ${timeoutMs} ms`);
    if (timeoutMs !== undefined)
      ctx.sleep(timeoutMs, { signal }).then(
        () => this.#stop(late, true),
        () => undefined,
      );
    const stop = (): void => this.#stop(ctx.signal.reason, isCanceled(ctx));
    if (ctx.signal.aborted) stop();
    else ctx.signal.addEventListener("abort", stop, { once: true, signal });
  }

  /** The time that the other agent had is over. */
  get isLate(): boolean {
    return this.#reason instanceof Late;
  }

  get signal(): AbortSignal {
    return this.#cut.signal;
  }

  /** The message has arrived: from now on there is a task that can be canceled. */
  sent(): void {
    this.#sent = true;
    if (this.#reason !== undefined) this.#cut.abort(this.#reason);
  }

  /** Nobody waits any more. */
  drop(): void {
    this.#done.abort();
  }

  /** `cancels`: then it waits a little for the message to arrive, because only the answer tells what there is to cancel. */
  #stop(reason: unknown, cancels: boolean): void {
    this.#reason ??= reason;
    const waitMs = cancels && !this.#sent ? CLIENT_LIMITS.cancelMs / 2 : 0;
    setTimeout(() => this.#cut.abort(reason), waitMs).unref();
  }
}
