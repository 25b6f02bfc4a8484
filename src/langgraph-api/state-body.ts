/** Reads updates of a state, and references to checkpoints. */
import { defined, isObject, type Json, type JsonObject } from "../lib/json.ts";
import { LIMITS } from "../model/index.ts";
import type { CheckpointRef, StateUpdate } from "../ports/index.ts";
import { invalidField, readObject, readString } from "../protocol/shared/fields.ts";

/** `checkpoint` or `checkpoint_id`; undefined: the newest. */
export function readCheckpoint(body: JsonObject): CheckpointRef | undefined {
  const checkpoint = readObject(body, "checkpoint", "");
  const id = readString(body, "checkpoint_id", "");
  const ref = checkpoint ? toRef(checkpoint, "checkpoint") : {};
  const merged = { ...ref, ...(id !== undefined && { checkpoint_id: id }) };
  return Object.keys(merged).length > 0 ? merged : undefined;
}

export const toRef = (value: JsonObject, path: string): CheckpointRef =>
  defined<CheckpointRef>({
    checkpoint_id: readString(value, "checkpoint_id", path),
    checkpoint_ns: readString(value, "checkpoint_ns", path),
    checkpoint_map: readObject(value, "checkpoint_map", path),
  });

/** `before` is the id of a checkpoint, a checkpoint, or a config with one. */
export function readBefore(value: Json | undefined): CheckpointRef | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return { checkpoint_id: value };
  if (!isObject(value)) throw invalidField("before", "must be a checkpoint or its id");
  return toRef(isObject(value.configurable) ? value.configurable : value, "before");
}

export function readUpdate(value: JsonObject, path: string): StateUpdate {
  const { values } = value;
  const isValid = values === undefined || values === null || isObject(values) || Array.isArray(values);
  if (!isValid) throw invalidField(`${path}values`, "must be an object, an array or null");
  return defined<StateUpdate>({
    values: values as StateUpdate["values"],
    command: readObject(value, "command", ""),
    as_node: readString(value, "as_node", ""),
  });
}

export function readSupersteps(body: JsonObject): readonly (readonly StateUpdate[])[] {
  const { supersteps } = body;
  if (supersteps === undefined || supersteps === null) return [];
  if (!Array.isArray(supersteps) || supersteps.length > LIMITS.listEntriesMax)
    throw invalidField("supersteps", `must be an array of at most ${LIMITS.listEntriesMax} steps`);
  return supersteps.map((step: Json, i) => {
    const updates = isObject(step) ? step.updates : undefined;
    if (!Array.isArray(updates) || updates.length === 0 || updates.length > LIMITS.listEntriesMax)
      throw invalidField(`supersteps[${i}].updates`, "must be an array of updates");
    return updates.map((update: Json, n) => {
      if (!isObject(update)) throw invalidField(`supersteps[${i}].updates[${n}]`, "must be an object");
      return readUpdate(update, `supersteps[${i}].updates[${n}].`);
    });
  });
}
