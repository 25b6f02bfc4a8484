/** Watches the runs of one server in a test: their steps and sleeps, where they are to crash, answers from a cassette. */
import type { StepKey, StepRecord } from "../model/index.ts";
import type { Agent, AgentEvent, AgentRuntime, Fetch, Turn } from "../ports/index.ts";
import type { CassettePlayer } from "./cassette.ts";
import type { RunActivity } from "./virtual-clock.ts";

/** "before": the work of the step has not begun. "unrecorded": it is done and not recorded. "after": it is recorded. */
export type CrashPoint = "before" | "unrecorded" | "after";

export interface WatchedRunsParts {
  /** Called at every point of every step; true: the server crashes now. */
  readonly onStep: (step: StepKey, point: CrashPoint) => boolean;
  /** Something may have changed that the clock has to know. */
  readonly onChange: () => void;
  readonly wallTime: () => number;
  readonly cassette: CassettePlayer | undefined;
  /** In place of the network; undefined: a request goes to the network. */
  readonly outbound: ((request: Request) => Promise<Response> | Response | undefined) | undefined;
}

/** A killed process does nothing any more. */
const NEVER = new Promise<never>(() => {});

export class WatchedRuns implements RunActivity {
  readonly #parts: WatchedRunsParts;
  #isDead = false;
  /** Of each run, the steps that are being executed. */
  readonly #steps = new Set<object>();
  readonly #sleeps = new Map<object, { readonly until: number; readonly inStep: boolean }>();
  readonly #end = new AbortController();

  constructor(parts: WatchedRunsParts) {
    this.#parts = parts;
  }

  get stepsRunning(): number {
    return this.#steps.size - [...this.#sleeps.values()].filter(sleep => sleep.inStep).length;
  }

  get wakeTimes(): Iterable<number> {
    return this.#isDead ? [] : Array.from(this.#sleeps.values(), sleep => sleep.until);
  }

  /** From now on nothing happens in these runs: their code waits forever wherever it meets the server again. */
  kill(): void {
    this.#isDead = true;
    this.#steps.clear();
    this.#sleeps.clear();
  }

  /** Lets code of killed runs clean up: programs that they started, connections. */
  close(): void {
    this.#end.abort(new Error("the test server was closed"));
  }

  watch(agent: Agent): Agent {
    const { runtime } = agent;
    return { ...agent, runtime: { name: runtime.name, run: turn => this.#run(runtime, turn) } };
  }

  #run(runtime: AgentRuntime, turn: Turn): AsyncIterable<AgentEvent> {
    const steps = new Set<object>();
    const source = this.#isDead
      ? undefined
      : runtime.run(this.#watchTurn(turn, steps))[Symbol.asyncIterator]();
    const unlessDead = async <T>(work: Promise<T>): Promise<T> => {
      try {
        return this.#isDead ? await NEVER : await work;
      } finally {
        if (this.#isDead) await NEVER;
      }
    };
    const finish = (): void => {
      for (const step of steps) this.#steps.delete(step);
      this.#parts.onChange();
    };
    const iterator = {
      async next(): Promise<IteratorResult<AgentEvent>> {
        if (!source) return NEVER;
        const result = await unlessDead(source.next()).catch(error => {
          finish();
          throw error;
        });
        if (result.done) finish();
        return result;
      },
      async return(): Promise<IteratorResult<AgentEvent>> {
        finish();
        await source?.return?.();
        return { done: true, value: undefined };
      },
    };
    return { [Symbol.asyncIterator]: () => iterator };
  }

  #watchTurn(turn: Turn, steps: Set<object>): Turn {
    const running = new Map<string, object>();
    const own: Partial<Turn> = {
      findStep: key => this.#findStep(turn, key, () => begin(key)),
      recordStep: record => this.#recordStep(turn, record, () => end(record)),
      wait: (ms, signal, inStep) => this.#wait(turn, ms, signal, inStep),
      signal: AbortSignal.any([turn.signal, this.#end.signal]),
      outbound: {
        guarded: this.#fetchOr(turn.outbound.guarded),
        trusted: this.#fetchOr(turn.outbound.trusted),
      },
    };
    const begin = (key: StepKey): void => {
      const step = {};
      running.set(nameOf(key), step);
      steps.add(step);
      this.#steps.add(step);
    };
    const end = (key: StepKey): void => {
      const step = running.get(nameOf(key));
      if (step) this.#steps.delete(step);
      this.#parts.onChange();
    };
    return new Proxy(turn, {
      get(target, name) {
        if (Object.hasOwn(own, name)) return own[name as keyof Turn];
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  async #findStep(turn: Turn, key: StepKey, begin: () => void): Promise<StepRecord | null> {
    if (this.#isDead) return NEVER;
    const found = await turn.findStep(key);
    if (this.#isDead) return NEVER;
    if (found) return found;
    const played = this.#parts.cassette?.find(turn.task.turn, key);
    if (played) {
      await turn.recordStep(played);
      return played;
    }
    // A step takes time: what happened before it is committed.
    await new Promise(resolve => void setImmediate(resolve));
    if (this.#isDead || this.#parts.onStep(key, "before")) return NEVER;
    if (key.kind === "step") begin();
    return null;
  }

  async #recordStep(turn: Turn, record: StepRecord, end: () => void): Promise<void> {
    if (this.#isDead || this.#parts.onStep(record, "unrecorded")) return NEVER;
    try {
      await turn.recordStep(record);
    } finally {
      end();
    }
    if (this.#isDead || this.#parts.onStep(record, "after")) return NEVER;
  }

  async #wait(turn: Turn, ms: number, signal: AbortSignal, inStep: boolean): Promise<void> {
    const sleep = {};
    this.#sleeps.set(sleep, { until: this.#parts.wallTime() + ms, inStep });
    this.#parts.onChange();
    try {
      await turn.wait(ms, signal, inStep);
    } finally {
      this.#sleeps.delete(sleep);
      this.#parts.onChange();
    }
    if (this.#isDead) await NEVER;
  }

  #fetchOr(network: Fetch): Fetch {
    const { outbound } = this.#parts;
    if (!outbound) return network;
    return async (url, init) => (await outbound(new Request(url, init))) ?? network(url, init);
  }
}

const nameOf = ({ kind, name, nth }: StepKey): string => `${kind} ${nth} ${name}`;
