import type { JsonObject } from "../lib/json.ts";
import type { ContextId, Scope } from "../model/index.ts";
import type { ContextStorage } from "./storage.ts";

/**
 * What an agent that is a graph offers beside its runs: schemas, a drawing, and the state of a context with its history.
 * Values are JSON in LangGraph's own form; messages are flat (`{ type, content, id, … }`).
 */
export interface GraphAccess {
  schemas(): Promise<StateSchemas>;
  /** `{ nodes, edges }`. `xray`: with the nodes of subgraphs, down to this depth. */
  drawing(xray: boolean | number): Promise<JsonObject>;
  /** The schemas of subgraphs by their namespace. */
  subgraphs(namespace: string | undefined, recurse: boolean): Promise<Readonly<Record<string, StateSchemas>>>;
  /** At a checkpoint, or the newest. A context without a state has one with empty values. */
  readState(
    context: GraphContext,
    at: CheckpointRef | undefined,
    subgraphs: boolean,
  ): Promise<ThreadSnapshot>;
  /** The newest first. */
  readHistory(context: GraphContext, range: HistoryRange): Promise<readonly ThreadSnapshot[]>;
  /** Writes as if nodes had run; all updates of one step are one checkpoint. Returns the newest checkpoint. */
  updateState(
    context: GraphContext,
    at: CheckpointRef | undefined,
    steps: readonly (readonly StateUpdate[])[],
  ): Promise<JsonObject>;
  /** Deletes the checkpoints that a run has written. */
  deleteRun(context: GraphContext, runId: string): Promise<void>;
  /** Deletes all checkpoints but the newest. */
  keepLatest(context: GraphContext): Promise<void>;
}

export interface StateSchemas {
  readonly input?: JsonObject;
  readonly output?: JsonObject;
  readonly state?: JsonObject;
  readonly config?: JsonObject;
  readonly context?: JsonObject;
}

/** A conversation of a caller with the graph. */
export interface GraphContext {
  readonly contextId: ContextId;
  readonly storage: ContextStorage;
  readonly caller: Pick<Scope, "tenant" | "principal">;
}

export interface CheckpointRef {
  readonly checkpoint_id?: string;
  readonly checkpoint_ns?: string;
  readonly checkpoint_map?: JsonObject;
}

export interface HistoryRange {
  readonly limit: number;
  readonly before?: CheckpointRef;
  readonly at?: CheckpointRef;
  /** Members that the metadata of a checkpoint must have. */
  readonly metadata?: JsonObject;
}

/** `values` null: no values. `command`: resume, update and goto of LangGraph's Command. */
export interface StateUpdate {
  readonly values?: JsonObject | readonly JsonObject[] | null;
  readonly command?: JsonObject;
  readonly as_node?: string;
}

/** LangGraph's ThreadState. */
export interface ThreadSnapshot {
  readonly values: JsonObject;
  readonly next: readonly string[];
  readonly tasks: readonly JsonObject[];
  readonly metadata: JsonObject;
  readonly created_at: string | null;
  readonly checkpoint: JsonObject;
  readonly parent_checkpoint: JsonObject | null;
  readonly interrupts: readonly JsonObject[];
}
