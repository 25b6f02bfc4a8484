/** Contracts of ports as lists of cases: any test runner can run them. */

export interface ContractCase {
  /** A sentence about behaviour. */
  readonly name: string;
  /** Rejects if the implementation does not keep the contract. `runner`: is told if the case does not apply to it. */
  run(runner?: CaseRunner): Promise<void>;
}

/** The context that vitest, node:test and others pass to a test. */
export interface CaseRunner {
  skip?(reason?: string): void;
}

type Work = () => unknown;

interface CaseContext {
  /** Ends the case: it does not apply to this implementation. */
  skip(reason?: string): never;
}

export interface ContractScope {
  it(name: string, work: (context: CaseContext) => unknown): void;
  beforeEach(work: Work): void;
  afterEach(work: Work): void;
}

/** `topic`: what the cases are about; it begins their names. */
export function defineContract(
  topic: string,
  define: (scope: ContractScope) => void,
): readonly ContractCase[] {
  const before: Work[] = [];
  const after: Work[] = [];
  const cases: ContractCase[] = [];
  const it: ContractScope["it"] = (name, work) => {
    const run = async (runner?: CaseRunner): Promise<void> => {
      for (const prepare of before) await prepare();
      try {
        await work(CONTEXT);
      } catch (error) {
        if (!(error instanceof SkippedCase)) throw error;
        runner?.skip?.(error.message);
      } finally {
        for (const clean of after) await clean();
      }
    };
    cases.push({ name: `${topic}: ${name}`, run });
  };
  define({ it, beforeEach: work => void before.push(work), afterEach: work => void after.push(work) });
  return cases;
}

class SkippedCase extends Error {}
const CONTEXT: CaseContext = {
  skip(reason) {
    throw new SkippedCase(reason);
  },
};

const POLL_MS = 5;

/** Waits for a condition. The limit is for cases that hang: a busy machine is slow. */
export async function until(condition: () => boolean | Promise<boolean>, waitMs = 60_000): Promise<void> {
  for (let waited = 0; !(await condition()); waited += POLL_MS) {
    if (waited > waitMs) throw new Error("waited too long for a condition");
    await new Promise(resolve => void setTimeout(resolve, POLL_MS));
  }
}
