import {
  Bell,
  LIMITS,
  reached,
  type Scope,
  type Seq,
  type Step,
  type TaskId,
  type Until,
} from "../model/index.ts";
import type { Bus, Lazy, Steps, Store } from "../ports.ts";

export interface TailParts {
  readonly store: Store;
  readonly bus: Bus;
}

/**
 * The one reader of events: what is committed after a place, then what comes, until there is enough or the caller is
 * gone. A slow caller lags in the log, not in memory.
 */
export async function* tail(
  parts: TailParts,
  scope: Scope,
  taskId: TaskId,
  after: Seq,
  until: Until,
  signal: Lazy<AbortSignal>,
): Steps {
  let place = after;
  let ear: Ear | undefined;
  try {
    for (;;) {
      const steps = await parts.store.log.read(scope, taskId, place, LIMITS.readMax);
      const last = steps.at(-1);
      if (last) {
        const end = steps.findIndex(step => isEnough(step, until));
        if (end !== -1) {
          yield { steps: end + 1 < steps.length ? steps.slice(0, end + 1) : steps, closing: true };
          return;
        }
        yield { steps, closing: false };
        place = last.seq;
      } else if (ear) {
        if (ear.signal.aborted) return;
        await ear.bell.rung();
      }
      // Begin to listen before the next look, so that nothing falls between the look and the wait.
      ear ??= listen(parts.bus, taskId, signal());
      if (ear.signal.aborted) return;
    }
  } finally {
    ear?.close();
  }
}

interface Ear {
  readonly bell: Bell;
  readonly signal: AbortSignal;
  close(): void;
}

function listen(bus: Bus, taskId: TaskId, signal: AbortSignal): Ear {
  const bell = new Bell();
  const deafen = bus.listen(taskId, bell.wake);
  signal.addEventListener("abort", bell.wake, { once: true });
  return {
    bell,
    signal,
    close() {
      signal.removeEventListener("abort", bell.wake);
      deafen();
    },
  };
}

function isEnough(step: Step, until: Until): boolean {
  const type = step.event?.type;
  return (type === "status" || type === "reply") && reached(until, step.task.status.state);
}
