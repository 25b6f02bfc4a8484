import { expect, it } from "vitest";
import { createGather } from "./batch-reads.ts";

/** Answers when it is told to. */
function createOracle() {
  const asked: { readonly keys: readonly string[]; answer(): void; fail(error: Error): void }[] = [];
  const gather = createGather<string, string>({
    ask: keys =>
      new Promise((resolve, reject) => {
        const answer = (): void =>
          resolve(new Map(keys.filter(key => key !== "none").map(key => [key, `${key}!`])));
        asked.push({ keys, answer, fail: reject });
      }),
    keysMax: 3,
    atOnceMax: 2,
  });
  const turn = (): Promise<void> => new Promise(resolve => void setTimeout(resolve, 0));
  return { gather, asked, turn };
}

it("asks together what is asked in one turn of the event loop, and each question once", async () => {
  const { gather, asked, turn } = createOracle();
  const answers = Promise.all(["a", "b", "a", "none"].map(gather));
  await turn();
  expect(asked.map(one => one.keys)).toEqual([["a", "b", "none"]]);
  asked[0]?.answer();
  expect(await answers).toEqual(["a!", "b!", "a!", undefined]);
});

it("who asks while an answer is on its way gets the next one", async () => {
  const { gather, asked, turn } = createOracle();
  const first = gather("a");
  await turn();
  const second = gather("a");
  await turn();
  expect(asked).toHaveLength(2);
  asked[1]?.answer();
  expect(await second).toBe("a!");
  asked[0]?.answer();
  expect(await first).toBe("a!");
});

it("asks for so many at most, and so many times at once", async () => {
  const { gather, asked, turn } = createOracle();
  const keys = (): readonly (readonly string[])[] => asked.map(one => one.keys);
  const answers = ["a", "b", "c", "d"].map(gather);
  await turn();
  answers.push(gather("e"));
  await turn();
  answers.push(gather("f"));
  await turn();
  expect(keys()).toEqual([
    ["a", "b", "c"],
    ["d", "e"],
  ]);
  asked[0]?.answer();
  await turn();
  expect(keys().at(-1)).toEqual(["f"]);
  for (const one of asked) one.answer();
  expect(await Promise.all(answers)).toEqual(["a!", "b!", "c!", "d!", "e!", "f!"]);
});

it("tells those whom it concerns that the question failed, and goes on", async () => {
  const { gather, asked, turn } = createOracle();
  const first = gather("a");
  await turn();
  const second = gather("b");
  await turn();
  asked[0]?.fail(new Error("down"));
  await expect(first).rejects.toThrow("down");
  asked[1]?.answer();
  expect(await second).toBe("b!");
});
