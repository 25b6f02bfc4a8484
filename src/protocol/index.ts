import type { Dialect } from "../ports/index.ts";
import { createV1, type V1Options } from "./a2a-v1/index.ts";
import { PROTOBUF as V1_PACKAGE } from "./a2a-v1/schema.ts";
import { createV01, type V01Options } from "./a2a-v01/index.ts";
import { createV02, type V02Options } from "./a2a-v02/index.ts";
import { createV03, type V03Options } from "./a2a-v03/index.ts";
import { PROTOBUF as V03_PACKAGE } from "./a2a-v03/schema.ts";
import { createArbiter } from "./arbiter/index.ts";
import { createLanggraph } from "./langgraph/index.ts";
import { createOrloj } from "./orloj/index.ts";
import { createSimple } from "./simple-a2a/index.ts";

/** A vendor's dialect: with what its document lacks, exactly as its document says, or not at all. */
type Profile = "on" | "strict" | "off";
export type DialectOptions = V1Options &
  V01Options &
  V02Options &
  V03Options &
  Readonly<Record<"langgraph" | "orloj" | "arbiter" | "simple", Profile>>;

/** All dialects, in the order in which they may claim a call. */
export function createDialects(options: DialectOptions): readonly Dialect[] {
  return [
    ...(options.langgraph === "off" ? [] : [createLanggraph(options.langgraph)]),
    ...(options.orloj === "off" ? [] : [createOrloj(options.orloj)]),
    ...(options.arbiter === "off" ? [] : [createArbiter(options.arbiter)]),
    ...(options.simple === "off" ? [] : [createSimple(options.simple)]),
    createV1(options),
    createV01(options),
    createV02(options),
    createV03(options),
  ];
}

/** What is spoken on gRPC: its package decides which dialect it is. */
export const PACKAGES = [V1_PACKAGE, V03_PACKAGE];
