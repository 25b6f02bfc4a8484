import { defineConfig } from "vitest/config";
import tsconfig from "./tsconfig.json" with { type: "json" };

/** `npm run check`: everything that needs no process, database or browser of its own. */
const UNIT = [
  "src/**/*.test.ts",
  "console/**/*.test.ts",
  "test/tidy.test.ts",
  "test/guards.test.ts",
  "test/reference.test.ts",
  "test/linear*.test.ts",
];

/** `dragoman/testing` is src/testing/index.ts, as for the compiler. */
const ALIASES = Object.entries(tsconfig.compilerOptions.paths).map(([name, [file]]) => ({
  find: new RegExp(`^${name}$`),
  replacement: new URL(file as string, import.meta.url).pathname,
}));

// One process without isolation between files: 40 small files start in half a second instead of ten.
export default defineConfig({
  resolve: { alias: ALIASES },
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
          exclude: [...UNIT, "test/process/**", "test/chaos/**", "test/judges/**"],
        },
      },
      // Commands and servers that are started and stopped many times.
      { extends: true, test: { name: "processes", include: ["test/process/**/*.test.ts"] } },
      { extends: true, test: { name: "chaos", include: ["test/chaos/**/*.test.ts"] } },
      // Clients and pages of others that take long: browsers with many pages, packages that are installed on demand.
      { extends: true, test: { name: "judges", include: ["test/judges/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "chaos on Postgres",
          include: [
            ...["crash", "kill", "local-calls-kill"].map(name => `test/chaos/${name}.test.ts`),
            "test/story/langgraph-api.test.ts",
          ],
          env: { DRAGOMAN_TEST_STORE: "postgres" },
        },
      },
    ],
  },
});
