/** The state of a graph in the form of the Agent Server. */
import type { Json, JsonObject } from "../../lib/json.ts";
import type { ThreadSnapshot } from "../../ports/index.ts";
import { isRecord } from "../shared/options.ts";
import type { GraphConfig } from "./graph.ts";
import { toErrorText, toWire } from "./wire.ts";

/** LangGraph's StateSnapshot. */
export interface StateSnapshot {
  readonly values: unknown;
  readonly next: readonly string[];
  readonly tasks: readonly SnapshotTask[];
  readonly metadata?: unknown;
  readonly createdAt?: string;
  readonly config: GraphConfig;
  readonly parentConfig?: GraphConfig;
}
interface SnapshotTask {
  readonly id: string;
  readonly name: string;
  readonly path?: readonly unknown[];
  readonly error?: unknown;
  readonly interrupts?: readonly unknown[];
  readonly state?: StateSnapshot | GraphConfig;
  readonly result?: unknown;
}

/** `threadId`: as callers know it. */
export function toGraphState(snapshot: StateSnapshot, threadId: string): ThreadSnapshot {
  const interrupts = snapshot.tasks.flatMap(task => task.interrupts ?? []);
  return {
    values: toWire(snapshot.values ?? {}) as JsonObject,
    next: snapshot.next,
    tasks: snapshot.tasks.map(task => toTask(task, threadId)),
    metadata: toWire(snapshot.metadata ?? {}) as JsonObject,
    created_at: snapshot.createdAt ?? null,
    checkpoint: toCheckpoint(snapshot.config, threadId),
    parent_checkpoint: snapshot.parentConfig ? toCheckpoint(snapshot.parentConfig, threadId) : null,
    interrupts: toWire(interrupts) as unknown as readonly JsonObject[],
  };
}

function toTask(task: SnapshotTask, threadId: string): JsonObject {
  const { state } = task;
  return {
    id: task.id,
    name: task.name,
    path: toWire(task.path ?? []),
    error: task.error === undefined || task.error === null ? null : toErrorText(task.error),
    interrupts: toWire(task.interrupts ?? []),
    checkpoint: state && isConfig(state) ? toCheckpoint(state, threadId) : null,
    state: state && !isConfig(state) ? (toGraphState(state, threadId) as unknown as Json) : null,
    result: toWire(task.result ?? null),
  };
}

const isConfig = (state: StateSnapshot | GraphConfig): state is GraphConfig =>
  isRecord((state as GraphConfig).configurable) && !("values" in state);

export function toCheckpoint({ configurable = {} }: GraphConfig, threadId: string): JsonObject {
  const { checkpoint_ns = "", checkpoint_id = null, checkpoint_map } = configurable;
  const map = isRecord(checkpoint_map) ? (toWire(checkpoint_map) as Json) : null;
  return { thread_id: threadId, checkpoint_ns, checkpoint_id, checkpoint_map: map };
}
