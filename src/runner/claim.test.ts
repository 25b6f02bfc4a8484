import { expect, it } from "vitest";
import type { Agent, Run } from "../ports/index.ts";
import { createRunner, type RunnerParts } from "./claim.ts";

/** More than are renewed in one turn of the event loop. */
const RUNS = 450;

const TASK = {
  contextId: "c",
  agent: "a",
  artifacts: [],
  history: [],
  crashes: 0,
  attempt: 1,
  attemptsBefore: 0,
  message: { messageId: "m", role: "user", parts: [] },
};

it("a lease that cannot be renewed keeps no other lease from being renewed", async () => {
  const renewed: string[] = [];
  const logged: object[] = [];
  let start: (run: Run) => void = () => {};
  let beat = (): void => {};
  const ended = Promise.withResolvers<void>();
  const endless = { next: () => new Promise(() => {}), return: async () => ({ done: true }) };
  const agent = {
    name: "a",
    policy: { onCrash: "resume" },
    runtime: { name: "fake", run: () => ({ [Symbol.asyncIterator]: () => endless }) },
  } as unknown as Agent;
  const store = {
    nodes: () => 1,
    log: { append: async () => {} },
    tasks: { get: async () => ({ task: { crashes: 0 } }) },
    runs: {
      setStarter: (starter: { readonly start: typeof start }) => void (start = starter.start),
      claim: async () => [],
      hasBlocked: () => false,
      renew: async ({ task: { id } }: Run) => {
        if (id === "t0") throw new Error("the database is away");
        renewed.push(id);
        if (renewed.length === RUNS - 1) ended.resolve();
        return true;
      },
    },
  };
  const runner = createRunner({
    store,
    bus: { notify() {}, subscribe() {}, unsubscribe() {} },
    log: { debug() {}, info() {}, warn() {}, error: (fields: object) => void logged.push(fields) },
    catalog: { find: () => agent, names: () => [] },
    timers: {
      after: (_ms: number, call: () => void) => {
        beat = call;
        return () => {};
      },
    },
    agents: () => ({}),
    ticks: () => 0,
    newId: () => "0123456789ab",
    toErrorRecord: ({ name, message }: Error) => ({ name, message }),
    runsMax: RUNS,
    leaseMs: 1_000,
  } as unknown as RunnerParts);
  for (let i = 0; i < RUNS; i++)
    start({
      scope: {},
      attempt: 1,
      afterCrash: false,
      task: { ...TASK, id: `t${i}` },
    } as unknown as Run);
  expect(runner.running).toBe(RUNS);
  beat();
  await ended.promise;
  expect(new Set(renewed).size).toBe(RUNS - 1);
  await expect.poll(() => logged).toMatchObject([{ err: { message: "the database is away" }, count: 1 }]);
});
