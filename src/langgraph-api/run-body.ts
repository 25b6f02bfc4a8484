/** The body of a run: what it asks of the server, and what it asks of the graph. */
import { defined, isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { CheckpointRef } from "../ports/index.ts";
import { invalidField, readBoolean, readObject, readString, requireId } from "../protocol/shared/fields.ts";
import { readChoice, readJsonObject } from "./fields.ts";
import { readCheckpoint } from "./state-body.ts";

export const STREAM_MODES = [
  "values",
  "messages",
  "messages-tuple",
  "updates",
  "events",
  "tasks",
  "checkpoints",
  "debug",
  "custom",
  "tools",
] as const;
/** Recorded for the streaming protocol: the id of the checkpoint that each state belongs to. */
export const CHECKPOINT_IDS = "checkpoint-ids";
export type StreamMode = (typeof STREAM_MODES)[number] | typeof CHECKPOINT_IDS;

const STRATEGIES = ["reject", "interrupt", "rollback", "enqueue"] as const;

export interface RunBody {
  readonly assistantId: string;
  /** null: the graph goes on from its checkpoint. */
  readonly input: Json;
  readonly command: JsonObject | undefined;
  readonly config: JsonObject;
  readonly context: JsonObject | undefined;
  readonly metadata: JsonObject;
  readonly modes: readonly StreamMode[];
  readonly subgraphs: boolean;
  readonly resumable: boolean;
  readonly interruptBefore: Json | undefined;
  readonly interruptAfter: Json | undefined;
  readonly checkpoint: CheckpointRef | undefined;
  readonly strategy: (typeof STRATEGIES)[number];
  readonly onDisconnect: "cancel" | "continue";
  readonly onCompletion: "delete" | "keep";
  readonly ifNotExists: "reject" | "create";
  readonly afterMs: number;
  /** Where the end of the run is reported. */
  readonly webhook: string | undefined;
}

const DELAY_SECONDS_MAX = 366 * 24 * 3_600;

export function readRunBody(body: JsonObject, webhook: string | undefined): RunBody {
  return {
    assistantId: requireId(body, "assistant_id", ""),
    input: body.input ?? null,
    command: readCommand(body),
    config: readJsonObject(body, "config"),
    context: readObject(body, "context", ""),
    metadata: readJsonObject(body, "metadata"),
    modes: readModes(body.stream_mode),
    subgraphs: readBoolean(body, "stream_subgraphs", "") ?? false,
    resumable: readBoolean(body, "stream_resumable", "") ?? false,
    interruptBefore: readNodes(body, "interrupt_before"),
    interruptAfter: readNodes(body, "interrupt_after"),
    checkpoint: readCheckpoint(body),
    strategy: readChoice(body, "multitask_strategy", STRATEGIES) ?? "enqueue",
    onDisconnect: readChoice(body, "on_disconnect", ["cancel", "continue"]) ?? "continue",
    onCompletion: readChoice(body, "on_completion", ["delete", "keep"]) ?? "delete",
    ifNotExists: readChoice(body, "if_not_exists", ["reject", "create"]) ?? "reject",
    afterMs: readDelay(body.after_seconds),
    webhook,
  };
}

/** The members that the runtime of a graph reads, and that `kwargs` of a run shows. */
export const toKwargs = (run: RunBody): JsonObject =>
  defined<JsonObject>({
    input: run.input,
    command: run.command,
    config: run.config,
    context: run.context,
    stream_mode: run.modes,
    subgraphs: run.subgraphs,
    resumable: run.resumable,
    interrupt_before: run.interruptBefore,
    interrupt_after: run.interruptAfter,
    checkpoint: run.checkpoint as JsonObject | undefined,
    webhook: run.webhook,
  });

export function readModes(value: Json | undefined): readonly StreamMode[] {
  if (value === undefined || value === null) return ["values"];
  const all = Array.isArray(value) ? value : [value];
  const unknown = all.find(one => one !== CHECKPOINT_IDS && !STREAM_MODES.includes(one as never));
  if (unknown !== undefined)
    throw invalidField("stream_mode", `must be one or several of ${STREAM_MODES.join(", ")}`);
  return all.length === 0 ? ["values"] : [...new Set(all as StreamMode[])];
}

function readCommand(body: JsonObject): JsonObject | undefined {
  const command = readObject(body, "command", "");
  if (!command) return undefined;
  const { update, goto } = command;
  const isUpdate = update === undefined || update === null || isObject(update) || Array.isArray(update);
  if (!isUpdate) throw invalidField("command.update", "must be an object or an array of pairs");
  const targets: readonly Json[] =
    goto === undefined || goto === null ? [] : Array.isArray(goto) ? goto : [goto];
  for (const target of targets)
    if (typeof target !== "string" && !(isObject(target) && typeof target.node === "string"))
      throw invalidField("command.goto", "must be the name of a node, { node, input }, or a list of these");
  return command;
}

/** "*", or names of nodes. */
function readNodes(body: JsonObject, name: string): Json | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || value === "*") return value;
  if (Array.isArray(value) && value.every(one => typeof one === "string")) return value;
  if (typeof readString(body, name, "") === "string") return [value];
  throw invalidField(name, 'must be "*" or an array of names of nodes');
}

function readDelay(value: Json | undefined): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== "number" || !(value >= 0 && value <= DELAY_SECONDS_MAX))
    throw invalidField("after_seconds", `must be a number from 0 to ${DELAY_SECONDS_MAX}`);
  return value * 1_000;
}
