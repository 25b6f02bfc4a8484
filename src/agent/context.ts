/** The arguments of an agent's `run(task, ctx)`, and its output. */

import type { Json, JsonObject } from "../lib/json.ts";
import type { ContextId, Credential, Message, TaskId, Trace } from "../model/index.ts";
import type { AgentEvent, CallerItems, ContextStorage, Log, Outbound } from "../ports/index.ts";
import type { Call, McpTools } from "./calls.ts";
import type {
  AgentFile,
  ArtifactContent,
  AuthRequest,
  Content,
  DataOptions,
  FileContent,
  Questions,
  TextOptions,
} from "./content.ts";

/** A string is short for `ctx.text(string)`. */
export type AgentOutput = AgentEvent | string;
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing has the type void.
export type Outcome = AgentOutput | readonly AgentOutput[] | undefined | void;
/** The result of `run`: a generator yields output one by one, a plain function returns it. */
export type RunResult =
  | AsyncIterable<AgentOutput, Outcome>
  | Iterable<AgentOutput, Outcome>
  | Promise<Outcome | AsyncIterable<AgentOutput, Outcome>>
  | Outcome;

export interface AgentTask<Input = JsonObject, Skill extends string | undefined = string | undefined> {
  readonly id: TaskId;
  readonly contextId: ContextId;
  /** The id that groups the traces of a conversation: set by the caller, else the context id. */
  readonly thread: string;
  /** Media types that the caller accepts, in its order; empty: not specified. */
  readonly accepts: readonly string[];
  /** All text of the message of this turn. */
  readonly text: string;
  /** The content of the first data part. */
  readonly data: Json | undefined;
  /**
   * The objects of all data parts, merged; of members with the same name the last one counts. With an `input` schema:
   * the checked input of the message that began the task, in all its turns.
   */
  readonly input: Input;
  /** The skill that the caller named (`message.metadata.skillId`), or whose schema accepts the input. */
  readonly skill: Skill;
  /** The answers to the questions of `ctx.askAll`, by id; empty in any other turn. */
  readonly answers: JsonObject;
  readonly files: readonly AgentFile[];
  readonly message: Message;
  /** The messages of this task, oldest first, including that of this turn. */
  readonly history: readonly Message[];
  /** 1 for the message that created the task, 2 for the first answer to a question, … */
  readonly turn: number;
  readonly metadata: JsonObject;
  /** Members of the call that only a client of the agent's own framework sends; undefined: none. */
  readonly request: JsonObject | undefined;
}

export interface StepScope {
  /** Aborted when the task is canceled or the server stops. */
  readonly signal: AbortSignal;
}

/** Each method except `usage` creates an event that takes effect when it is yielded or returned. */
export interface Ctx<Output = unknown> {
  /** Appends to one artifact, which is streamed. */
  text(text: string, options?: TextOptions): AgentEvent;
  data(data: unknown, options?: DataOptions): AgentEvent;
  /** The result as data: checked with the `output` schema; a value that does not match throws. */
  output(value: Output, options?: DataOptions): AgentEvent;
  file(file: FileContent): AgentEvent;
  artifact(artifact: ArtifactContent): AgentEvent;
  /** Progress while the task is working. */
  status(content: Content): AgentEvent;
  /** Responds with a message instead of a task; ends the run. */
  reply(content: Content): AgentEvent;
  /** The task waits for input (`input-required`); ends the run. The answer starts the next turn. */
  ask(question: Content): AgentEvent;
  /** Several questions, each with an id; ends the run. The next turn starts when all are answered: `task.answers`. */
  askAll(questions: Questions): AgentEvent;
  /**
   * The task waits until the caller has given a credential (`auth-required`); ends the run. The next turn reads it with
   * `ctx.credentials(name)`.
   */
  askAuth(request: AuthRequest): AgentEvent;
  /** The credential that this caller gave to this agent; undefined: none, or expired. */
  credentials(name: string): Promise<Credential | undefined>;
  /** Rejects the task; ends the run. */
  reject(reason: Content): AgentEvent;
  /** Fails with a message for the caller; ends the run. The text of a thrown error goes to the log only. */
  fail(reason: Content): AgentEvent;
  /** Takes effect immediately and need not be yielded. The counters of a task are summed. */
  usage(counters: Readonly<Record<string, number | undefined>>): AgentEvent;
  /**
   * Runs `work` once: its result is recorded before `step` resolves, and a run that is repeated after a crash gets the
   * recorded result. It must be JSON; a thrown error is recorded as well. Steps with the same name are told apart by
   * their order.
   */
  step<T>(name: string, work: (scope: StepScope) => T | Promise<T>): Promise<T>;
  /** Sleeps, also across restarts of the server. Rejects when the run or the signal is aborted. */
  sleep(ms: number, options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** The time in milliseconds; recorded, so that a repeated run gets the same value. */
  now(): Promise<number>;
  /** At least 0, below 1; recorded, so that a repeated run gets the same value. */
  random(): Promise<number>;
  /** Messages that arrive while the task is working, if the agent `acceptsWhileWorking`; ends with the run. */
  readonly incoming: AsyncIterable<Message>;
  /** The earlier messages of this context, oldest first. */
  readonly history: Promise<readonly Message[]>;
  /** Aborted when the task is canceled or the server stops. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Key-value storage of this caller, agent and context; deleted with the last task of the context. */
  readonly storage: ContextStorage;
  /**
   * The long-term memory of this caller, in namespaces, which all agents and contexts share:
   * `await ctx.items.put(["notes"], "first", { text: "…" })`.
   */
  readonly items: CallerItems;
  /** @deprecated The former name of `storage`. */
  readonly shelf: ContextStorage;
  /** The caller that owns the task. */
  readonly caller: { readonly tenant: string; readonly principal: string };
  /** HTTP requests to other servers; see `Outbound`. */
  readonly outbound: Outbound;
  /** The trace context of this run, to be sent with outbound requests. */
  readonly trace: Trace | undefined;
  /**
   * Calls another agent: `const { text } = await ctx.call("https://…", "hello")`. A run that is repeated after a crash
   * does not repeat a call that has ended, and resumes one that has not.
   */
  readonly call: Call;
  /** Tools of an MCP server in the option `mcpServers`. */
  mcp(server: string): Promise<McpTools>;
  /** The number of servers that have forwarded this call. */
  readonly hops: number;
  /** Above 1: an earlier run of this turn was interrupted. */
  readonly attempt: number;
}
