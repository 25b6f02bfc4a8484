import { afterEach, beforeEach, expect, test } from "vitest";
import { toScope } from "../auth/scope.ts";
import { createLocalBus } from "../bus/local.ts";
import { systemTimers } from "../lib/timers.ts";
import { type AgentName, Fault } from "../model/index.ts";
import { type Log, SCHEDULE_DUE, type Schedule, type ScheduleStore } from "../ports/index.ts";
import { createMemoryBackend } from "../store/memory/backend.ts";
import { createSingleNodeSchedules } from "../store/single-node/schedules.ts";
import { createScheduler, nextTimeOf, type Scheduler } from "./schedules.ts";

const alice = toScope("acme", "alice");
const START = Date.UTC(2026, 0, 1, 12, 0, 30);
const MINUTE = 60_000;
let now: number;
let bus: ReturnType<typeof createLocalBus>;
let store: ScheduleStore;
let scheduler: Scheduler | undefined;
let begun: string[];
let warnings: string[];

const log: Log = {
  debug() {},
  info() {},
  warn: (_, text) => void warnings.push(text),
  error: (_, text) => void warnings.push(text),
};

beforeEach(() => {
  now = START;
  begun = [];
  warnings = [];
  bus = createLocalBus();
  const writer = { write: async (part: () => void) => part() } as never;
  const backend = createMemoryBackend();
  store = createSingleNodeSchedules({ backend, writer, wallTime: () => now, ticks: () => now });
});
afterEach(() => scheduler?.stop());

const start = (begin: (key: string) => Promise<void> = async () => {}): void => {
  scheduler = createScheduler({
    timers: systemTimers,
    store: { schedules: store },
    bus,
    log,
    wallTime: () => now,
    async begin(_due, key) {
      begun.push(key);
      await begin(key);
    },
  });
};

async function put(id: string, more: Partial<Schedule> = {}): Promise<void> {
  const schedule: Schedule = {
    id,
    agent: "echo" as AgentName,
    contextId: undefined,
    cron: "* * * * *",
    timezone: "UTC",
    endAt: undefined,
    isEnabled: true,
    nextAt: undefined,
    createdAt: now,
    updatedAt: now,
    metadata: {},
    payload: {},
    ...more,
  };
  const nextAt = more.nextAt ?? nextTimeOf(schedule, now);
  await store.put(alice, { ...schedule, nextAt });
}

/** Lets the scheduler look, and waits until it has settled what it found. */
async function look(): Promise<void> {
  bus.notify(SCHEDULE_DUE);
  for (let i = 0; i < 20; i++) await new Promise(resolve => void setImmediate(resolve));
}

test("the work of a schedule begins once at each of its times", async () => {
  await put("s");
  start();
  await look();
  expect(begun).toEqual([]);
  now = START + 30_000;
  await look();
  await look();
  now += MINUTE;
  await look();
  expect(begun).toEqual([`schedule:s:${START + 30_000}`, `schedule:s:${START + 90_000}`]);
});

test("times that were missed begin the work once, and the next time is in the future", async () => {
  await put("s");
  now += 100 * MINUTE;
  start();
  await look();
  expect(begun).toEqual([`schedule:s:${START + 30_000}`]);
  expect((await store.get(alice, "s"))?.nextAt).toBe(START + 100 * MINUTE + 30_000);
});

test("a schedule ends with its end, and a disabled one has no time", async () => {
  await put("ends", { endAt: START + MINUTE });
  await put("off", { isEnabled: false });
  start();
  now += MINUTE;
  await look();
  now += MINUTE;
  await look();
  expect(begun).toEqual([`schedule:ends:${START + 30_000}`]);
  expect((await store.get(alice, "ends"))?.nextAt).toBeUndefined();
});

test("work that cannot begin now is tried again with the same key; work that never can is skipped", async () => {
  await put("busy");
  await put("broken");
  let isDown = true;
  start(async key => {
    if (key.startsWith("schedule:broken")) throw new Fault("agent-not-found", "Agent not found");
    if (isDown) throw new Fault("unavailable", "not now");
  });
  now += MINUTE;
  await look();
  expect(begun.toSorted()).toEqual([`schedule:broken:${START + 30_000}`, `schedule:busy:${START + 30_000}`]);
  expect(warnings.toSorted()).toEqual([
    "the work of a schedule could not begin; it is skipped this time",
    "the work of a schedule could not begin; it is tried again",
  ]);
  isDown = false;
  begun = [];
  await look();
  expect(begun).toEqual([]);
  now += 61_000;
  await look();
  expect(begun).toContain(`schedule:busy:${START + 30_000}`);
  expect(begun).toContain(`schedule:broken:${START + 90_000}`);
});

test("two schedulers on one store begin each work once", async () => {
  for (let i = 0; i < 30; i++) await put(`s${i}`);
  start();
  const first = scheduler;
  start();
  now += MINUTE;
  await look();
  await first?.stop();
  expect(new Set(begun).size).toBe(30);
  expect(begun).toHaveLength(30);
});
