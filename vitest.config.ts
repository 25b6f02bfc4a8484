import { defineConfig } from "vitest/config";

/** `npm run check`: everything that needs no process, database or browser of its own. */
const UNIT = ["src/**/*.test.ts", "test/tidy.test.ts", "test/guards.test.ts", "test/linear.test.ts"];

// One process without isolation between files: 40 small files start in half a second instead of ten.
export default defineConfig({
  resolve: { alias: { dragoman: new URL("./src/index.ts", import.meta.url).pathname } },
  test: {
    isolate: false,
    // Most of the time tests wait: for processes, for disks, for each other.
    maxWorkers: 3,
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // A test waits for an event: limits of time only end tests that hang.
    expect: { poll: { timeout: 60_000 } },
    reporters: ["default", "./test/support/reporter.ts"],
    projects: [
      { extends: true, test: { name: "unit", include: UNIT } },
      {
        extends: true,
        test: {
          name: "behaviour",
          include: ["test/**/*.test.ts"],
          exclude: [...UNIT, "test/chaos/**", "test/judges/**"],
        },
      },
      { extends: true, test: { name: "chaos", include: ["test/chaos/**/*.test.ts"] } },
      // Clients and pages of others that take long: browsers with many pages, packages that are installed on demand.
      { extends: true, test: { name: "judges", include: ["test/judges/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "chaos on Postgres",
          include: ["test/chaos/crash.test.ts", "test/chaos/kill.test.ts"],
          env: { DRAGOMAN_TEST_STORE: "postgres" },
        },
      },
    ],
  },
});
