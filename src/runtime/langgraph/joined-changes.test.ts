import { expect, test } from "vitest";
import type { ContextStorage, StorageChange } from "../../ports/index.ts";
import { JoinedChanges } from "./joined-changes.ts";

/** Records each transaction; `fails`: the number of the one that is refused. */
function recorder(fails = 0) {
  const transactions: (readonly string[])[] = [];
  const storage: ContextStorage = {
    get: async () => undefined,
    list: async () => [],
    async put(changes) {
      transactions.push(changes.map(({ key }) => key));
      if (transactions.length === fails) throw new Error("full");
    },
  };
  return { transactions, joined: new JoinedChanges(storage) };
}
const change = (key: string): StorageChange => ({ key, value: true });

test("changes of one turn of the event loop are one transaction, in their order", async () => {
  const { transactions, joined } = recorder();
  await Promise.all([joined.put([change("a"), change("b")]), joined.put([change("c")])]);
  await joined.put([change("d")]);
  expect(transactions).toEqual([["a", "b", "c"], ["d"]]);
});

test("changes during a transaction are stored after it", async () => {
  const { transactions, joined } = recorder();
  const first = joined.put([change("a")]);
  await new Promise(resolve => void setImmediate(resolve));
  await Promise.all([first, joined.put([change("b")])]);
  expect(transactions).toEqual([["a"], ["b"]]);
});

test("after a transaction that failed none is begun", async () => {
  const { transactions, joined } = recorder(1);
  const first = expect(joined.put([change("a")])).rejects.toThrow("full");
  await new Promise(resolve => void setImmediate(resolve));
  await Promise.all([first, expect(joined.put([change("b")])).rejects.toThrow("full")]);
  await expect(joined.put([change("c")])).rejects.toThrow("full");
  expect(transactions).toEqual([["a"]]);
});
