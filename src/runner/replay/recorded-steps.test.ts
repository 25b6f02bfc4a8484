import { expect, it } from "vitest";
import { LIMITS, type StepKey, type StepRecord } from "../../model/index.ts";
import { RecordedSteps, ReplayMismatch } from "./recorded-steps.ts";

const key = (name: string, nth = 1, kind: StepKey["kind"] = "step"): StepKey => ({ kind, name, nth });

function stepsOf(...keys: readonly StepKey[]): RecordedSteps {
  const steps = new RecordedSteps();
  for (const one of keys) steps.add({ ...one, value: `${one.name} ${one.nth}` });
  return steps;
}
const resultOf = async (found: Promise<StepRecord | null>): Promise<unknown> => (await found)?.value ?? null;

it("steps are found by kind, name and number, in any order, each once", async () => {
  const steps = stepsOf(key("a"), key("b"), key("a", 2), key("a", 1, "sleep"));
  expect(await resultOf(steps.find(key("b")))).toBe("b 1");
  expect(await resultOf(steps.find(key("a", 2)))).toBe("a 2");
  expect(await resultOf(steps.find(key("a")))).toBe("a 1");
  expect(await resultOf(steps.find(key("a")))).toBeNull();
  expect(steps.isEmpty).toBe(false);
  expect(await resultOf(steps.find(key("a", 1, "sleep")))).toBe("a 1");
});

it("concurrent code: a new step waits until all recorded ones were found", async () => {
  const steps = stepsOf(key("b"), key("c"));
  const order: string[] = [];
  const find = (name: string): Promise<void> =>
    steps.find(key(name)).then(found => void order.push(found ? `${name} found` : `${name} new`));
  const pending = [find("a"), find("d")];
  await find("b");
  expect(order).toEqual(["b found"]);
  await Promise.all([...pending, find("c")]);
  expect(order.toSorted()).toEqual(["a new", "b found", "c found", "d new"]);
});

it("changed code: a new step is refused when the recorded ones are not asked for, and so are all further ones", async () => {
  const steps = stepsOf(key("charge the card", 2));
  const begun = performance.now();
  await expect(steps.find(key("charge"))).rejects.toThrow(
    /"charge the card" \(number 2 of that name\).* instead it began the step "charge"\./,
  );
  expect(performance.now() - begun).toBeGreaterThan(LIMITS.stepWaitMs - 50);
  expect(steps.mismatch).toBeInstanceOf(ReplayMismatch);
  await expect(steps.find(key("charge the card", 2))).rejects.toBe(steps.mismatch);
});

it("times, random numbers and sleeps wait for nothing, and need not be asked for again", async () => {
  const steps = stepsOf(key("", 1, "now"), key("5", 1, "sleep"), key("a"));
  expect(await steps.find(key("", 1, "random"))).toBeNull();
  expect(await steps.find(key("6", 1, "sleep"))).toBeNull();
  expect(() => steps.check("it ended")).toThrow(/did the step "a".* instead it ended/);
  stepsOf(key("", 1, "now")).check("it ended");
});

it("a waiting lookup is rejected when the run stops", async () => {
  const steps = stepsOf(key("a"));
  const waiting = steps.find(key("b"));
  steps.close(new Error("the run was canceled"));
  await expect(waiting).rejects.toThrow("the run was canceled");
  await expect(steps.find(key("a"))).rejects.toThrow("the run was canceled");
  expect(steps.mismatch).toBeUndefined();
});
