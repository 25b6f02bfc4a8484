import { EXIT } from "../command.ts";
import type { Terminal } from "../terminal/terminal.ts";

export interface StopParts {
  readonly terminal: Pick<Terminal, "onSignal">;
  /** Stops the server in order. */
  stop(): Promise<void>;
  onStopping(): void;
}

/** The first signal stops the server in order, a second one ends at once. Resolves with the exit code. */
export async function untilStopped(parts: StopParts): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let stopping = false;
  const onSignal = () => {
    if (stopping) return resolve(EXIT.interrupted);
    stopping = true;
    parts.onStopping();
    parts.stop().then(() => resolve(EXIT.ok), reject);
  };
  const offs = [parts.terminal.onSignal("SIGINT", onSignal), parts.terminal.onSignal("SIGTERM", onSignal)];
  try {
    return await promise;
  } finally {
    for (const off of offs) off();
  }
}
