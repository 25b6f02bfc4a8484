import type { StepKey } from "../model/index.ts";
import type { CrashPoint } from "./watched-runs.ts";

export interface CrashOptions {
  /** Default: "unrecorded", the hardest case: the work is done, and its result is lost. */
  readonly when?: CrashPoint | undefined;
  /** Which step of this name; default: the first. */
  readonly nth?: number | undefined;
}

interface Planned extends StepKey {
  readonly when: CrashPoint;
  readonly happened: () => void;
}

/** The crashes that a test has planned; each happens once. */
export class CrashPlan {
  readonly #planned = new Set<Planned>();

  /** Resolves when the crash has happened. */
  add(step: string | StepKey, { when = "unrecorded", nth = 1 }: CrashOptions): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const {
      kind,
      name,
      nth: number,
    } = typeof step === "string" ? ({ kind: "step", name: step, nth } as const) : step;
    this.#planned.add({ kind, name, nth: number, when, happened: resolve });
    return promise;
  }

  /** Whether the server crashes at this point. */
  take(step: StepKey, point: CrashPoint): boolean {
    const found = [...this.#planned].find(
      one => one.kind === step.kind && one.name === step.name && one.nth === step.nth && one.when === point,
    );
    if (!found) return false;
    this.#planned.delete(found);
    found.happened();
    return true;
  }
}
