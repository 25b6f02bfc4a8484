import type { JsonObject } from "../lib/json.ts";
import type { CredentialRequest } from "./credential.ts";
import type { Trace } from "./event.ts";
import type { AgentName, ContextId, TaskId } from "./ids.ts";
import type { Artifact, Message } from "./message.ts";

export type TaskState =
  | "submitted"
  | "working"
  | "input-required"
  | "auth-required"
  | "completed"
  | "failed"
  | "canceled"
  | "rejected";

/** What a state means for those who wait. */
const PHASES: Record<TaskState, "moving" | "interrupted" | "terminal"> = {
  submitted: "moving",
  working: "moving",
  "input-required": "interrupted",
  "auth-required": "interrupted",
  completed: "terminal",
  failed: "terminal",
  canceled: "terminal",
  rejected: "terminal",
};

export const TASK_STATES = Object.keys(PHASES) as readonly TaskState[];
/** Nothing will ever happen. */
export const isTerminal = (state: TaskState): boolean => PHASES[state] === "terminal";
/** Nothing will happen until someone acts. */
export const isSettled = (state: TaskState): boolean => PHASES[state] !== "moving";

export interface TaskStatus {
  readonly state: TaskState;
  readonly message?: Message;
  /** When this state was entered, in milliseconds. */
  readonly at: number;
  /** The ids of several questions that wait for answers. */
  readonly asks?: readonly string[];
  /** What the caller is asked to give, so that the agent can act for it elsewhere. */
  readonly auth?: CredentialRequest;
  /** The agent did not come to this end by itself: it broke off. */
  readonly broken?: true;
  /** It asks whether work that was cut off shall be run again. */
  readonly again?: true;
}

export interface Usage {
  readonly [counter: string]: number;
}

export interface Task {
  readonly id: TaskId;
  readonly contextId: ContextId;
  readonly agent: AgentName;
  /** The dialect in which the task was made. */
  readonly origin: string;
  /** The caller's own id of the task, in dialects where callers choose it. */
  readonly alias?: string;
  readonly status: TaskStatus;
  readonly artifacts: readonly Artifact[];
  /** Messages of callers, and status messages that a later status has replaced; the current one is only in `status`. */
  readonly history: readonly Message[];
  readonly metadata?: JsonObject;
  readonly createdAt: number;
  /** How many messages of callers it has got; each begins a turn. */
  readonly turn: number;
  /** The message that the current turn answers; undefined: nothing was said yet. */
  readonly message?: Message;
  /** Messages that came while the current turn was worked on. */
  readonly incoming?: readonly Message[];
  /** Runs of the current turn have put notes on record. */
  readonly noted?: true;
  /** How often a run was started: the fence, so an earlier run can no longer write. */
  readonly attempt: number;
  /** How many of these were of earlier turns. */
  readonly attemptsBefore: number;
  /** How many runs of this turn ended without a word. */
  readonly crashes: number;
  /** Somebody has asked for the end; only `canceled` can follow. */
  readonly cancel?: { readonly at: number; readonly reason?: string };
  /** A caller has seen this as a task, so that it can no longer become a bare reply. */
  readonly shown: boolean;
  /** It is expected to become a bare reply. */
  readonly quiet: boolean;
  /** The agent answered with a bare message: there is no task as far as callers can see. */
  readonly reply?: Message;
  readonly usage?: Usage;
  /** It does not wait for the other turns of its context. */
  readonly alone?: true;
  /** What was answered to the questions of the last status, by their ids. */
  readonly answers?: JsonObject;
  /** Under which traces of the conversation are grouped, if the caller said so. */
  readonly thread?: string;
  /** Media types that the caller of the current turn can read, if it said so. */
  readonly accepts?: readonly string[];
  /** Where the call that began the current turn stands in a trace. */
  readonly trace?: Trace;
  /** Through how many servers that call came that passed it on. */
  readonly hops?: number;
}

/** Whether lists leave it out: there is no task as far as callers can see, or not yet. */
export const isHidden = (task: Task): boolean => task.reply !== undefined || (task.quiet && !task.shown);

/** When a reader has had enough: v1 §3.1.2, §3.1.6, §3.2.2; D4. */
export type Until = "terminal" | "asked" | "settled";

export function reached(until: Until, state: TaskState): boolean {
  if (until === "settled") return isSettled(state);
  return isTerminal(state) || (until === "asked" && state === "input-required");
}

/** What of a task a caller wants to see. */
export interface View {
  /** At most this many messages, the newest; undefined: all. */
  readonly historyMax?: number;
  readonly artifacts: boolean;
}

export function viewed(task: Task, view: View): Task {
  const { historyMax } = view;
  const short = historyMax !== undefined && task.history.length > historyMax;
  if (!short && (view.artifacts || task.artifacts.length === 0)) return task;
  return {
    ...task,
    history: short ? task.history.slice(task.history.length - historyMax) : task.history,
    artifacts: view.artifacts ? task.artifacts : [],
  };
}

const DAY_MS = 86_400_000;
/** Days since 1970-01-01, UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);
export const startOfDay = (day: number): number => day * DAY_MS;

export function sumUsage(total: Usage | undefined, more: Usage): Usage {
  const out: Record<string, number> = { ...total };
  for (const [name, count] of Object.entries(more)) out[name] = (out[name] ?? 0) + count;
  return out;
}

/** What is told about a task beside what callers and agents say of it: the caller's own facts, and what it has cost. */
export function metadataOf({ metadata, usage }: Task): JsonObject | undefined {
  return usage ? { ...metadata, "dragoman.usage": { ...usage } } : metadata;
}
