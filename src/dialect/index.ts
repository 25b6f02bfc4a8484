import type { Dialect } from "../ports.ts";
import { createV1, type V1Options } from "./v1/index.ts";
import { createV03, type V03Options } from "./v03/index.ts";

/** A vendor's dialect: with what its document lacks, exactly as its document says, or not at all. */
type Profile = "on" | "strict" | "off";
export type DialectOptions = V1Options &
  V03Options &
  Readonly<Record<"langgraph" | "orloj" | "arbiter" | "simple", Profile>>;

/** All dialects, in the order in which they may claim a call. */
export function createDialects(options: DialectOptions): readonly Dialect[] {
  return [createV1(options), createV03(options)];
}
