import { defineConfig } from "vitest/config";

// One process without isolation between files: 40 small files start in half a second instead of ten.
export default defineConfig({
  resolve: { alias: { dragoman: new URL("./src/index.ts", import.meta.url).pathname } },
  test: {
    isolate: false,
    // Most of the time tests wait: for processes, for disks, for each other.
    maxWorkers: 2,
    reporters: ["default", "./test/support/reporter.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/tidy.test.ts"],
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "whole",
          include: ["test/**/*.test.ts"],
          exclude: ["test/tidy.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "on Postgres",
          include: ["test/story/crash.test.ts", "test/story/kill.test.ts"],
          env: { DRAGOMAN_TEST_STORE: "postgres" },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
