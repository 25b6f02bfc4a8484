import { Lost } from "./errors.ts";

/** How often, and after which waits, something is tried again that may be better soon. */
export interface Patience {
  readonly waitsMs: readonly number[];
  readonly signal: AbortSignal;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  note(text: string): void;
}

/** Does it, and again where the other side was not reached. `mayTry`: false if it must not be done twice. */
export async function patiently<T>(
  patience: Patience,
  work: () => Promise<T>,
  mayTry: (lost: Lost) => boolean = () => true,
): Promise<T> {
  const { waitsMs, signal, sleep, note } = patience;
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const waitMs = waitsMs[tries];
      if (signal.aborted || !(error instanceof Lost) || waitMs === undefined || !mayTry(error)) throw error;
      note(`nobody was reached (${error.reason}); trying again (${tries + 1} of ${waitsMs.length})`);
      await sleep(Math.max(waitMs, error.retryAfterMs ?? 0), signal);
    }
  }
}
