import type { StepKey } from "../model/index.ts";
import type { CrashPoint } from "./watched-runs.ts";

export interface CrashOptions {
  /** Default: "unrecorded", the hardest case: the work is done, and its result is lost. */
  readonly when?: CrashPoint | undefined;
  /** Which step of this name; default: the first. */
  readonly nth?: number | undefined;
}

interface Planned extends Required<CrashOptions> {
  readonly name: string;
  readonly happened: () => void;
}

/** The crashes that a test has planned; each happens once. */
export class CrashPlan {
  readonly #planned = new Set<Planned>();

  /** Resolves when the crash has happened. */
  add(name: string, options: CrashOptions): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { when = "unrecorded", nth = 1 } = options;
    this.#planned.add({ name, when, nth, happened: resolve });
    return promise;
  }

  /** Whether the server crashes at this point. */
  take(step: StepKey, point: CrashPoint): boolean {
    if (step.kind !== "step") return false;
    const found = [...this.#planned].find(
      one => one.name === step.name && one.nth === step.nth && one.when === point,
    );
    if (!found) return false;
    this.#planned.delete(found);
    found.happened();
    return true;
  }
}
