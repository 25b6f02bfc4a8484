import type { Dialect } from "../ports.ts";
import { createV1, type V1Options } from "./v1/index.ts";
import { createV03, type V03Options } from "./v03/index.ts";

/** All dialects, in the order in which they may claim a call. */
export function createDialects(options: V1Options & V03Options): readonly Dialect[] {
  return [createV1(options), createV03(options)];
}
