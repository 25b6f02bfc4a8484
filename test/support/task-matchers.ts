import type { TaskMatchers } from "../../src/testing/index.ts";

declare module "vitest" {
  // The parameters are those of the declaration that is extended.
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown>
    extends TaskMatchers<R> {}
}
