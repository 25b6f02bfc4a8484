import { expect, it } from "vitest";
import { createBatcher } from "./batcher.ts";

/** A batcher whose batches are resolved or rejected by the test. */
function createManualBatcher() {
  const batches: { readonly keys: readonly string[]; resolve(): void; reject(error: Error): void }[] = [];
  const find = createBatcher<string, string>({
    load: keys =>
      new Promise((resolve, reject) => {
        const values = new Map(keys.filter(key => key !== "none").map(key => [key, `${key}!`]));
        batches.push({ keys, resolve: () => resolve(values), reject });
      }),
    batchMax: 3,
    concurrencyMax: 2,
  });
  const nextTurn = (): Promise<void> => new Promise(resolve => void setTimeout(resolve, 0));
  return { find, batches, nextTurn };
}

it("combines the lookups of one turn of the event loop, each key once", async () => {
  const { find, batches, nextTurn } = createManualBatcher();
  const values = Promise.all(["a", "b", "a", "none"].map(find));
  await nextTurn();
  expect(batches.map(batch => batch.keys)).toEqual([["a", "b", "none"]]);
  batches[0]?.resolve();
  expect(await values).toEqual(["a!", "b!", "a!", undefined]);
});

it("a lookup that arrives while its key is being loaded gets the next batch", async () => {
  const { find, batches, nextTurn } = createManualBatcher();
  const first = find("a");
  await nextTurn();
  const second = find("a");
  await nextTurn();
  expect(batches).toHaveLength(2);
  batches[1]?.resolve();
  expect(await second).toBe("a!");
  batches[0]?.resolve();
  expect(await first).toBe("a!");
});

it("limits the keys of a batch, and the batches at the same time", async () => {
  const { find, batches, nextTurn } = createManualBatcher();
  const keys = (): readonly (readonly string[])[] => batches.map(batch => batch.keys);
  const values = ["a", "b", "c", "d"].map(find);
  await nextTurn();
  values.push(find("e"));
  await nextTurn();
  values.push(find("f"));
  await nextTurn();
  expect(keys()).toEqual([
    ["a", "b", "c"],
    ["d", "e"],
  ]);
  batches[0]?.resolve();
  await nextTurn();
  expect(keys().at(-1)).toEqual(["f"]);
  for (const batch of batches) batch.resolve();
  expect(await Promise.all(values)).toEqual(["a!", "b!", "c!", "d!", "e!", "f!"]);
});

it("a batch that fails rejects its own lookups only", async () => {
  const { find, batches, nextTurn } = createManualBatcher();
  const first = find("a");
  await nextTurn();
  const second = find("b");
  await nextTurn();
  batches[0]?.reject(new Error("down"));
  await expect(first).rejects.toThrow("down");
  batches[1]?.resolve();
  expect(await second).toBe("b!");
});
