import { EXIT } from "../command.ts";
import type { Terminal } from "../terminal/terminal.ts";

export interface StopParts {
  readonly terminal: Pick<Terminal, "onSignal">;
  /** Ends all work in order. */
  stop(): Promise<void>;
  /** Tells the user what is happening. */
  say(): void;
}

/** Waits for the first signal and stops well; a second one ends the waiting. The value is the exit code. */
export async function untilStopped(parts: StopParts): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let stopping = false;
  const heard = () => {
    if (stopping) return resolve(EXIT.interrupted);
    stopping = true;
    parts.say();
    parts.stop().then(() => resolve(EXIT.ok), reject);
  };
  const offs = [parts.terminal.onSignal("SIGINT", heard), parts.terminal.onSignal("SIGTERM", heard)];
  try {
    return await promise;
  } finally {
    for (const off of offs) off();
  }
}
