import { defineConfig } from "vitest/config";

// One process without isolation between files: 40 small files start in half a second instead of ten.
export default defineConfig({
  resolve: { alias: { dragoman: new URL("./src/index.ts", import.meta.url).pathname } },
  test: {
    isolate: false,
    // Most of the time tests wait: for processes, for disks, for each other.
    maxWorkers: 2,
    // What a test waits for decides, and not how long it takes: limits of time only end tests that hang.
    expect: { poll: { timeout: 60_000 } },
    reporters: ["default", "./test/support/reporter.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/tidy.test.ts", "test/guards.test.ts", "test/linear.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: "whole",
          include: ["test/**/*.test.ts"],
          exclude: ["test/tidy.test.ts", "test/guards.test.ts", "test/linear.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: "on Postgres",
          include: ["test/story/crash.test.ts", "test/story/kill.test.ts"],
          env: { DRAGOMAN_TEST_STORE: "postgres" },
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
