import { expect, it } from "vitest";
import { toScope } from "../auth/scope.ts";
import { createLocalBus } from "../bus/local.ts";
import { toAsyncIterable } from "../lib/batch-source.ts";
import { LoopBudget } from "../lib/loop-budget.ts";
import { createIdGenerator, LIMITS, type Task, type TaskEvent } from "../model/index.ts";
import type { Agent, Bus, Operation, Run, StepStream, Store } from "../ports/index.ts";
import { createCatalog } from "../server/catalog.ts";
import { createMemoryStore } from "../store/memory/index.ts";
import { createOperations } from "./index.ts";

/** The local bus, with a count of its subscriptions. */
function createCountingBus(): Bus & { subscriptions: number } {
  const bus = createLocalBus();
  return {
    subscriptions: 0,
    notify: bus.notify,
    subscribe(topic, listener) {
      bus.subscribe(topic, listener);
      this.subscriptions += 1;
    },
    unsubscribe(topic, listener) {
      bus.unsubscribe(topic, listener);
      this.subscriptions -= 1;
    },
  };
}

const NAME = "quiet" as Agent["name"];
const CARD = { name: NAME, inputModes: ["text/plain"], skills: [], extensions: [], streaming: true };
const SCOPE = toScope("t", "p");
const STREAM = {
  op: "stream",
  agent: NAME,
  until: "asked",
  view: { artifacts: true },
  send: {
    origin: "v1",
    extensions: [],
    message: { messageId: "m", role: "user", parts: [{ kind: "text", text: "hi" }] },
  },
} as Operation;

/** Operations on a store in memory; `wrap`: what they see of it. */
function setUp(wrap: (store: Store) => Store = store => store) {
  const bus = createCountingBus();
  let hex = 0;
  const newId = createIdGenerator({
    now: () => Date.UTC(2026, 0, 1),
    randomHex: bytes => (++hex).toString(16).padStart(2 * bytes, "0"),
  });
  const store = createMemoryStore({
    loop: new LoopBudget(2_048),
    runQuota: () => ({ caller: Infinity, tenant: Infinity }),
    ...LIMITS,
    now: () => 1,
    wallTime: () => 1,
    ticks: () => 1,
    onCommitted: id => bus.notify(id),
    onDue: () => {},
    onPushDue: () => {},
    onDamaged: () => {},
  });
  const agent = { name: NAME, card: CARD, replies: undefined, policy: {} } as unknown as Agent;
  const toExecute = (seen: Store) =>
    createOperations({
      schemes: [],
      credentials: { save: async () => {} },
      targets: { refusalOf: () => undefined },
      encryption: { encrypt: text => text, decrypt: text => text },
      pushSnapshot: true,
      ...LIMITS,
      store: seen,
      bus,
      loop: new LoopBudget(2_048),
      catalog: createCatalog([agent], NAME, () => 0),
      newId,
      digest: text => text,
      isOpen: () => true,
      hasStreamRoom: () => true,
      sendWaitMs: 0,
      longPollMs: 0,
      fullMs: () => 0,
      hopsMax: 8,
    });
  return { bus, store, execute: toExecute(wrap(store)), executeElsewhere: toExecute(store) };
}

it("a reader that is closed right after the first frame leaves no subscription", async () => {
  const { bus, store, execute } = setUp();
  const steps = (await execute(STREAM, SCOPE, () => new AbortController().signal)) as StepStream;
  const reader = toAsyncIterable(steps);
  const first = reader.next();
  // The first frame waits for an event: now there is a subscription.
  await expect.poll(() => bus.subscriptions).toBe(1);
  const [run] = (await store.runs.claim("w", new Set([NAME]), 1)) as [Run];
  const working: TaskEvent = { type: "status", state: "working" };
  await store.log.append(SCOPE, run.task.id, [working], { run });
  expect((await first).value.steps[0]).toMatchObject({ event: null, task: { id: run.task.id } });
  await reader.return(undefined);
  expect(bus.subscriptions).toBe(0);
  await store.close();
});

it("a call that is recorded elsewhere between the look for its key and the look for its task is the same call", async () => {
  const send = { ...(STREAM as { readonly send: object }).send, alias: "mine", key: "k" };
  const call = { ...STREAM, op: "send", until: "accepted", send } as unknown as Operation;
  const signal = () => new AbortController().signal;
  let elsewhere: Promise<unknown> | undefined;
  const { store, execute, executeElsewhere } = setUp(inner => ({
    ...inner,
    tasks: {
      ...inner.tasks,
      async findByName(scope, agent, name) {
        const found = await inner.tasks.findByName(scope, agent, name);
        if (name.kind === "key" && !elsewhere) await (elsewhere = executeElsewhere(call, SCOPE, signal));
        return found;
      },
    },
  }));
  const results = [await execute(call, SCOPE, signal), await elsewhere] as { readonly task: Task }[];
  expect(new Set(results.map(({ task }) => task.id)).size).toBe(1);
  await store.close();
});
