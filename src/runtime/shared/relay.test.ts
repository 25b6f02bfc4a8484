import { expect, test } from "vitest";
import type { AgentOutput } from "../../agent/context.ts";
import { relay } from "./relay.ts";

async function heard<T>(saying: AsyncGenerator<AgentOutput, T>): Promise<unknown[]> {
  const all: unknown[] = [];
  for (;;) {
    const { value, done } = await saying.next();
    all.push(value);
    if (done) return all;
  }
}

test("emitted output is yielded one by one, then the result is returned", async () => {
  const said = relay(async say => {
    await say("a");
    await Promise.all([say("b"), say("c")]);
    return 7;
  });
  expect(await heard(said)).toEqual(["a", "b", "c", 7]);
});

test("emit resolves when the output was read", async () => {
  let at = 0;
  const said = relay(async say => {
    for (at = 1; at <= 3; at++) await say(`${at}`);
  });
  await said.next();
  await new Promise(resolve => setTimeout(resolve, 5));
  expect(at).toBe(1);
  await said.next();
  expect(at).toBe(2);
});

test("an error is thrown after the output before it", async () => {
  const said = relay(async say => {
    say("last words").catch(() => {});
    throw new Error("broken");
  });
  expect((await said.next()).value).toBe("last words");
  await expect(said.next()).rejects.toThrow("broken");
});

test("emit rejects when the reader has stopped", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const said = relay(async say => {
    await say("a").catch(resolve);
  });
  await said.next();
  await said.return(undefined);
  expect(String(await promise)).toContain("the output is no longer read");
});
