import { describe, expect, it } from "vitest";
import { type AgentName, Fault, LIMITS, type Scope, type Task, type TaskEvent } from "../model/index.ts";
import { type Agent, type AgentEvent, type Run, RunInterrupted } from "../ports/index.ts";
import type { ActiveRun } from "./active-run.ts";
import { RunExecutor } from "./run.ts";
import { RUN_STATES, type RunInput, type RunState } from "./run-states.ts";
import type { RunExecutorParts } from "./turn.ts";

const STATES = Object.keys(RUN_STATES) as RunState[];
const INPUTS = Object.keys(RUN_STATES.running) as RunInput[];

/** For each state the accepted inputs: the next state, or `end` and how the run ends. */
const EXPECTED: Record<RunState, Partial<Record<RunInput, string>>> = {
  running: {
    final: "settled",
    ready: "running",
    returned: "end completed",
    threw: "end failed",
    broke: "end interrupted",
    canceled: "canceling",
    shutdown: "draining",
    lost: "lost",
  },
  canceling: {
    final: "settled",
    ready: "canceling",
    returned: "end canceled",
    threw: "end canceled",
    broke: "end canceled",
    timeout: "end canceled",
  },
  draining: {
    final: "settled",
    ready: "draining",
    returned: "end interrupted",
    threw: "end interrupted",
    broke: "end interrupted",
    timeout: "end interrupted",
  },
  lost: {
    final: "settled",
    ready: "end lost",
    returned: "end lost",
    threw: "end lost",
    broke: "end lost",
    timeout: "end lost",
  },
  settled: {
    ready: "end settled",
    threw: "end settled",
    broke: "end settled",
    timeout: "end settled",
    canceled: "settled",
    shutdown: "settled",
    lost: "settled",
  },
  over: {},
};

function next(state: RunState, input: RunInput): string | null {
  const cell = RUN_STATES[state][input];
  if (cell === null) return null;
  if (typeof cell === "string") return cell === "=" ? state : cell;
  return `end ${cell.end}`;
}

describe("the table of run states", () => {
  for (const state of STATES)
    for (const input of INPUTS) {
      const expected = EXPECTED[state][input] ?? null;
      it(`${state} × ${input} ${expected === null ? "is ignored" : `gives ${expected}`}`, () =>
        expect(next(state, input)).toBe(expected));
    }

  it("every state and every end is reachable from running", () => {
    const reached = new Set<RunState>(["running"]);
    const ends = new Set<string>();
    for (const state of reached)
      for (const input of INPUTS) {
        const result = next(state, input);
        if (result?.startsWith("end ")) ends.add(result);
        if (result) reached.add(result.startsWith("end ") ? "over" : (result as RunState));
      }
    expect([...reached].sort()).toEqual(STATES.toSorted());
    const reasons = ["canceled", "completed", "failed", "interrupted", "lost", "settled"];
    expect([...ends].sort()).toEqual(reasons.map(reason => `end ${reason}`));
  });
});

/** Runs an agent that is controlled step by step, on a store that records the types of events. */
function setUp(commits: () => Promise<void> = async () => {}, start?: Promise<void>) {
  const recorded: string[] = [];
  const results: PromiseWithResolvers<IteratorResult<AgentEvent>>[] = [];
  const task = { id: "t", contextId: "c", agent: "a", artifacts: [], history: [], crashes: 0, attempt: 1 };
  const message = { messageId: "m", role: "user", parts: [] };
  const run = {
    scope: {} as Scope,
    worker: "w",
    attempt: 1,
    afterCrash: false,
    task: { ...task, attemptsBefore: 0, message } as unknown as Task,
  } as Run;
  const state = { isCanceled: false, isHeld: true, renewals: 0 };
  const store = {
    log: {
      append: async (_scope: Scope, _id: string, [event]: readonly TaskEvent[]) => {
        recorded.push(event?.type === "status" ? event.state : (event?.type as string));
        await commits();
      },
    },
    tasks: { get: async () => ({ task: { ...task, ...(state.isCanceled && { cancel: { at: 0 } }) } }) },
    runs: {
      renew: async () => {
        state.renewals += 1;
        return state.isHeld;
      },
      release: async () => void recorded.push("released"),
    },
  };
  const source = {
    next: () => {
      const result = Promise.withResolvers<IteratorResult<AgentEvent>>();
      results.push(result);
      return result.promise;
    },
    return: async () => ({ done: true, value: undefined }),
  };
  let signal: AbortSignal | undefined;
  const agent = {
    name: "a" as AgentName,
    policy: { onCrash: "resume" },
    runtime: {
      name: "fake",
      run: (turn: { readonly signal: AbortSignal }) => {
        signal = turn.signal;
        return { [Symbol.asyncIterator]: () => source };
      },
    },
  } as unknown as Agent;
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const bus = { notify() {}, subscribe() {}, unsubscribe() {} };
  const over = Promise.withResolvers<ActiveRun>();
  const parts = {
    store,
    bus,
    log,
    newId: () => "0123456789ab",
    ticks: () => 0,
    leaseMs: 1_000,
    cancelGraceMs: 10,
    attemptsMax: 3,
    toErrorRecord: () => ({ name: "Error", message: "" }),
  } as unknown as RunExecutorParts;
  const executor = new RunExecutor(parts, run, agent, { claimedAt: 0, recorded: start }, over.resolve);
  const settle = async (): Promise<void> => void (await new Promise(resolve => setImmediate(resolve)));
  const emit = async (value: AgentEvent): Promise<void> => {
    results.at(-1)?.resolve({ done: false, value });
    await settle();
  };
  const play: Record<Played, () => Promise<void>> = {
    output: () => emit({ type: "usage", usage: { tokens: 1 } }),
    final: () => emit({ type: "status", state: "input-required" }),
    returned: async () => results.at(-1)?.resolve({ done: true, value: undefined }),
    threw: async () => results.at(-1)?.reject(new Error("boom")),
    broke: async () => results.at(-1)?.reject(new RunInterrupted("exit")),
    async canceled() {
      state.isCanceled = true;
      executor.wake();
      await settle();
    },
    shutdown: async () => executor.stop("shutdown"),
    async lost() {
      state.isHeld = false;
      await executor.renew();
    },
    timeout: () => new Promise(resolve => void setTimeout(resolve, 20)),
  };
  return { play, state, recorded, executor, settle, over: over.promise, isAborted: () => signal?.aborted };
}

/** "output": an event that does not settle the turn. */
type Played = Exclude<RunInput, "ready"> | "output";
const SCRIPTS: readonly (readonly [script: string, recorded: string])[] = [
  ["output returned", "usage completed"],
  ["output threw", "usage failed"],
  ["output broke", "usage released"],
  ["canceled broke", "canceled"],
  ["output final", "usage input-required"],
  ["canceled output returned", "usage canceled"],
  ["canceled threw", "canceled"],
  ["canceled lost shutdown timeout", "canceled"],
  ["canceled final", "input-required"],
  ["shutdown output returned", "usage released"],
  ["shutdown threw", "released"],
  ["shutdown canceled lost timeout", "released"],
  ["shutdown final", "input-required"],
  ["lost timeout", ""],
  ["returned canceled shutdown lost timeout output", "completed"],
];

describe("a run", () => {
  it.each(SCRIPTS)("%s: records %s", async (script, expected) => {
    const { play, recorded, over, isAborted } = setUp();
    const inputs = script.split(" ") as Played[];
    for (const input of inputs) await play[input]();
    await over;
    expect(recorded.join(" ")).toBe(expected);
    expect(isAborted()).toBe(/^(canceled|shutdown|lost)/.test(script));
  });

  it.each(["canceled", "shutdown", "lost"] as const)(
    "that is %s while its last event is being committed ends with that event",
    async reason => {
      const commit = Promise.withResolvers<void>();
      let appends = 0;
      const { play, recorded, over, isAborted } = setUp(async () => {
        if (++appends === LIMITS.uncommittedEventsMax) await commit.promise;
      });
      for (let i = 1; i < LIMITS.uncommittedEventsMax; i++) await play.output();
      await play.final();
      await play[reason]();
      expect(isAborted()).toBe(true);
      commit.resolve();
      await over;
      expect(recorded.at(-1)).toBe("input-required");
    },
  );

  it("whose task is not committed yet has no lease to renew: it is renewed after the commit", async () => {
    const start = Promise.withResolvers<void>();
    const { state, executor, settle, play, over } = setUp(undefined, start.promise);
    const renewed = executor.renew();
    await settle();
    expect(state.renewals).toBe(0);
    start.resolve();
    expect([await renewed, state.renewals]).toEqual([true, 1]);
    await play.returned();
    await over;
  });

  it("whose task could not be recorded is lost: the agent is stopped, and nothing is recorded", async () => {
    const start = Promise.withResolvers<void>();
    const { recorded, over, isAborted } = setUp(undefined, start.promise);
    start.reject(new Fault("unavailable", ""));
    await over;
    expect([recorded, isAborted()]).toEqual([[], true]);
  });

  it("whose event is refused is lost: the agent is stopped, and nothing else is recorded", async () => {
    const refuse = (): Promise<void> => Promise.reject(new Fault("conflict", ""));
    const { play, recorded, over, isAborted } = setUp(refuse);
    await play.output();
    await over;
    expect([recorded, isAborted()]).toEqual([["usage"], true]);
  });
});
