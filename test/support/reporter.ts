import type { Reporter, TestModule } from "vitest/node";

/** Ends the run with the one line that CI parses: `N passed, N failed`. */
export default class PlainCount implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      // A file that fails to load has no tests to count, yet it is a failure.
      if (module.state() === "failed" && module.children.size === 0) count.failed += 1;
      for (const test of module.children.allTests()) {
        const state = test.result().state;
        if (state !== "pending") count[state] += 1;
      }
    }
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`);
  }
}
