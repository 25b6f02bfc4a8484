import { describe, it } from "vitest";
import type { ContractCase } from "../../src/testing/contracts/contract.ts";

/** Runs a contract with vitest. */
export const runContract = (name: string, cases: readonly ContractCase[]): void => {
  describe(name, () => {
    for (const one of cases) it(one.name, context => one.run(context));
  });
};
