import { UnavailableError } from "./errors.ts";

export interface RetryOptions {
  /** One delay per retry. */
  readonly delaysMs: readonly number[];
  readonly signal: AbortSignal;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  onRetry(text: string): void;
}

/** Retries `work` after each `UnavailableError`. `canRetry`: false if `work` must not be done twice. */
export async function withRetry<T>(
  options: RetryOptions,
  work: () => Promise<T>,
  canRetry: (error: UnavailableError) => boolean = () => true,
): Promise<T> {
  const { delaysMs, signal, sleep, onRetry } = options;
  for (let retries = 0; ; retries++) {
    try {
      return await work();
    } catch (error) {
      const delayMs = delaysMs[retries];
      const isFinal = signal.aborted || !(error instanceof UnavailableError) || delayMs === undefined;
      if (isFinal || !canRetry(error)) throw error;
      onRetry(`the agent was not reached (${error.reason}); retry ${retries + 1} of ${delaysMs.length}`);
      await sleep(Math.max(delayMs, error.retryAfterMs ?? 0), signal);
    }
  }
}
