import type { JsonObject } from "../../lib/json.ts";
import type { Task } from "../../model/index.ts";
import { encodeTask as encodeV1Task } from "../a2a-v1/encode.ts";

/** v1.1 §3.2.7. ProtoJSON: an int64 is a string. A task without a generation has 0, which is the same as absent. */
export const withGeneration = (encoded: JsonObject, { generation }: Task): JsonObject =>
  generation === undefined ? encoded : { ...encoded, generation: String(generation) };

export const encodeTask = (task: Task): JsonObject => withGeneration(encodeV1Task(task), task);
