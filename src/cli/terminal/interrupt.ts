import type { Terminal } from "./terminal.ts";

/** What makes a reader stop: the user, or the time. The task goes on in both cases. */
export interface Interrupt {
  readonly signal: AbortSignal;
  readonly reason: "user" | "time" | undefined;
  close(): void;
}

export function createInterrupt(
  terminal: Pick<Terminal, "onSignal">,
  timeoutMs: number | undefined,
): Interrupt {
  const controller = new AbortController();
  let why: Interrupt["reason"];
  const stop = (reason: "user" | "time") => () => {
    why ??= reason;
    controller.abort();
  };
  const offs = [terminal.onSignal("SIGINT", stop("user")), terminal.onSignal("SIGTERM", stop("user"))];
  const timer = timeoutMs === undefined ? undefined : setTimeout(stop("time"), timeoutMs);
  return {
    signal: controller.signal,
    get reason() {
      return why;
    },
    close() {
      clearTimeout(timer);
      for (const off of offs) off();
    },
  };
}
