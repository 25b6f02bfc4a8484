import type { JsonObject } from "../lib/json.ts";
import type { CredentialRequest } from "./credential.ts";
import type { RunRequest, Trace } from "./event.ts";
import type { AgentName, ContextId, TaskId } from "./ids.ts";
import type { Artifact, Message } from "./message.ts";
import type { TaskState } from "./task-state.ts";
import type { Usage } from "./usage.ts";

export interface TaskStatus {
  readonly state: TaskState;
  readonly message?: Message;
  /** When this state was entered, in milliseconds. */
  readonly at: number;
  /** The ids of several questions that wait for answers. */
  readonly asks?: readonly string[];
  /** The message as it was recorded, if some of its questions are answered: `message` has the others. */
  readonly asked?: Message;
  /** The credentials that the agent needs to act for the caller elsewhere. */
  readonly auth?: CredentialRequest;
  /** The server ended the turn, not the agent: the run failed or was interrupted. */
  readonly broken?: true;
  /** The status asks whether an interrupted run shall be repeated. */
  readonly again?: true;
}

/** The part of a task that one turn has produced. */
export interface TurnOutput {
  /** The ids of the artifacts that it created or changed. */
  readonly artifacts: readonly string[];
  readonly usage?: Usage;
}

export interface Task {
  readonly id: TaskId;
  readonly contextId: ContextId;
  readonly agent: AgentName;
  /** The dialect in which the task was created. */
  readonly origin: string;
  /** The caller's own id of the task, in dialects where callers choose it. */
  readonly alias?: string;
  readonly status: TaskStatus;
  readonly artifacts: readonly Artifact[];
  /** Messages of callers, and status messages that a later status has replaced; the current one is only in `status`. */
  readonly history: readonly Message[];
  readonly metadata?: JsonObject;
  readonly createdAt: number;
  /**
   * The number of updates that callers see, from 1: of the status, or of an artifact (docs/dialects/v11.md). undefined: the
   * task continues a snapshot that was written before tasks had this number.
   */
  readonly generation?: number | undefined;
  /** The number of messages from callers; each begins a turn. */
  readonly turn: number;
  /** The message that the current turn answers; undefined before the first one. */
  readonly message?: Message;
  /** Messages that arrived while the current turn was worked on. */
  readonly incoming?: readonly Message[];
  /** Runs of the current turn have recorded steps. */
  readonly noted?: true;
  /** The number of runs so far. It fences: a run with a lower number can no longer write. */
  readonly attempt: number;
  /** How many of these belong to earlier turns. */
  readonly attemptsBefore: number;
  /** The number of runs of this turn that ended without a status. */
  readonly crashes: number;
  /** A caller has requested a cancel: only `canceled` can follow. */
  readonly cancel?: { readonly at: number; readonly reason?: string };
  /** A caller has seen this as a task, so that it can no longer become a bare reply. */
  readonly shown: boolean;
  /** It is expected to become a bare reply. */
  readonly quiet: boolean;
  /** The agent answered with a bare message: callers see no task. */
  readonly reply?: Message;
  readonly usage?: Usage;
  /** From the second turn on: what the current turn has produced. In a first turn everything belongs to it. */
  readonly current?: TurnOutput;
  /** It does not wait for the other turns of its context. */
  readonly alone?: true;
  /** The answers to the questions of the last status, by question id. */
  readonly answers?: JsonObject;
  /** The caller's id under which traces of the conversation are grouped. */
  readonly thread?: string;
  /** Media types that the caller of the current turn accepts, if it named any. */
  readonly accepts?: readonly string[];
  /** The trace of the call that began the current turn. */
  readonly trace?: Trace;
  /** The number of servers that forwarded that call. */
  readonly hops?: number;
  /** What the call that began the current turn asks beyond its message. */
  readonly request?: RunRequest;
}

/** Whether lists leave the task out: callers see no task, or not yet. */
export const isHidden = (task: Task): boolean => task.reply !== undefined || (task.quiet && !task.shown);

/** The part of a task that a caller wants to see. */
export interface View {
  /** At most this many messages, the newest; undefined: all. */
  readonly historyMax?: number;
  readonly artifacts: boolean;
}

export function applyView(task: Task, view: View): Task {
  const { historyMax } = view;
  const isShortened = historyMax !== undefined && task.history.length > historyMax;
  if (!isShortened && (view.artifacts || task.artifacts.length === 0)) return task;
  return {
    ...task,
    history: isShortened ? task.history.slice(task.history.length - historyMax) : task.history,
    artifacts: view.artifacts ? task.artifacts : [],
  };
}

/** Metadata as callers see it: their own, and the usage. */
export function metadataOf({ metadata, usage }: Task): JsonObject | undefined {
  return usage ? { ...metadata, "dragoman.usage": { ...usage } } : metadata;
}
