/** Agents and what runs them. */

import type { JsonObject } from "../lib/json.ts";
import type {
  AgentCard,
  AgentName,
  AgentPolicy,
  Credential,
  Message,
  Scope,
  StepKey,
  StepRecord,
  Task,
  TaskEvent,
  Trace,
} from "../model/index.ts";
import type { KnownCaller } from "./caller.ts";
import type { AuthorizationOptions, AuthorizationRequest } from "./credentials.ts";
import type { Log } from "./log.ts";
import type { McpServers } from "./mcp.ts";
import type { Outbound } from "./outbound.ts";
import type { ContextStorage } from "./storage.ts";
import type { Upstream } from "./upstream.ts";

export interface Agent {
  readonly name: AgentName;
  readonly card: AgentCard;
  /** What callers are told who are known; undefined: no more than the card. */
  readonly extendedCard: ((caller: KnownCaller) => Promise<AgentCard>) | undefined;
  readonly runtime: AgentRuntime;
  /** Whether the answer may be a bare message; undefined: the agent did not say. */
  readonly replies: "task" | "message" | undefined;
  /** JSON Schema of its input, if it said so. */
  readonly inputSchema: JsonObject | undefined;
  readonly policy: AgentPolicy;
  /** What its card is copied from, if it stands for an agent somewhere else. */
  readonly upstream?: Upstream | undefined;
}
export interface Catalog extends VisibleAgents {
  names(): ReadonlySet<AgentName>;
  /** What a caller may know of: for him it is as if there were no others. */
  visibleTo(scope: Scope): VisibleAgents;
}
export interface VisibleAgents {
  /** By its name, or by the UUID that follows from its name; undefined: the default agent. */
  find(name: AgentName | undefined): Agent | undefined;
  all(): readonly Agent[];
  /** The default agent; undefined: there are none. */
  readonly defaultAgent: AgentName | undefined;
}
export interface AgentRuntime {
  readonly name: string;
  /** Return: completed; throw: failed; abort: canceled. */
  run(turn: Turn): AsyncIterable<AgentEvent>;
}
export interface Turn {
  readonly task: Task;
  /** The message that this turn answers. */
  readonly message: Message;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly log: Log;
  /** This context's earlier turns, oldest first: what callers said, and what the agent made of it. */
  history(): Promise<readonly Message[]>;
  /** Messages that come while the turn is worked on, if its agent takes them; ends with the run. */
  readonly incoming: AsyncIterable<Message>;
  /** What an earlier attempt of this turn noted there; null: nothing. A new step waits until those on record were found. */
  findStep(place: StepKey): Promise<StepRecord | null>;
  /** Puts a note on record; resolves when it is committed. */
  recordStep(note: StepRecord): Promise<void>;
  /** What this agent puts away in this context, for this caller. */
  readonly storage: ContextStorage;
  readonly caller: Pick<Scope, "tenant" | "principal">;
  /** What the caller gave to this agent under this name; undefined: nothing that still holds. */
  credentials(name: string): Promise<Credential | undefined>;
  /** How the caller can give it. */
  authorizationOptions(wish: AuthorizationRequest): AuthorizationOptions;
  readonly outbound: Outbound;
  /** Servers of tools that the config names. */
  readonly tools: McpServers;
  /** Where this run stands in a trace: to be passed on to whoever is called. */
  readonly trace: Trace | undefined;
  newId(): string;
  /** The wall time. */
  now(): number;
  /** At least 0, below 1. */
  random(): number;
}
/** What an agent can say: the part of the log that is its own. */
export type AgentEvent = Extract<TaskEvent, { type: "status" | "artifact" | "reply" | "usage" }>;
