/** Agents and their runtimes. */

import type { Json, JsonObject } from "../lib/json.ts";
import type { SchemaIssue } from "../lib/json-schema-check.ts";
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
import type { GraphAccess } from "./graph.ts";
import type { CallerItems } from "./items.ts";
import type { LocalAgents } from "./local-agents.ts";
import type { Log } from "./log.ts";
import type { McpServerProvider } from "./mcp.ts";
import type { Outbound } from "./outbound.ts";
import type { ContextStorage } from "./storage.ts";
import type { Upstream } from "./upstream.ts";

export interface Agent {
  readonly name: AgentName;
  readonly card: AgentCard;
  /** The card for authenticated callers; undefined: it has none. */
  readonly extendedCard: ((caller: KnownCaller) => Promise<AgentCard>) | undefined;
  readonly runtime: AgentRuntime;
  /** Whether the agent replies with a bare message; undefined: either is possible. */
  readonly replies: "task" | "message" | undefined;
  /** JSON Schema of its input, if it declares one. */
  readonly inputSchema: JsonObject | undefined;
  /** JSON Schema of the data that it returns, if it declares one. */
  readonly outputSchema: JsonObject | undefined;
  /** JSON Schemas of single skills, by id. */
  readonly skillSchemas?: SkillSchemas | undefined;
  /** Checks the input of a message that begins a task; undefined: anything is accepted. */
  readonly checkInput?: CheckInput | undefined;
  readonly policy: AgentPolicy;
  /** The remote agent that it forwards to, if it does. */
  readonly upstream?: Upstream | undefined;
  /** The graph that it is, if it is one. */
  readonly graph?: GraphAccess | undefined;
}
export type SkillSchemas = Readonly<
  Record<string, { readonly input?: JsonObject; readonly output?: JsonObject }>
>;
/** `named`: the skill that the caller names. */
export type CheckInput = (named: string | undefined, value: Json) => Promise<InputCheck>;
export type InputCheck = { readonly skill?: string } & (
  | { readonly value: unknown }
  /** `skills`: the caller named none of these, and none accepts the input. */
  | { readonly issue: SchemaIssue; readonly skills?: readonly string[] }
);
export interface Catalog extends VisibleAgents {
  names(): ReadonlySet<AgentName>;
  /** The agents that a caller may know of: others do not exist for it. */
  visibleTo(scope: Scope): VisibleAgents;
}
export interface VisibleAgents {
  /** By its name, or by the UUID derived from its name; undefined: the default agent. */
  find(name: AgentName | undefined): Agent | undefined;
  all(): readonly Agent[];
  /** undefined: there are no agents. */
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
  /** The messages and results of this context's earlier turns, oldest first. */
  history(): Promise<readonly Message[]>;
  /** Messages that arrive while the turn is worked on, if its agent accepts them; ends with the run. */
  readonly incoming: AsyncIterable<Message>;
  /** The result that an earlier attempt of this turn recorded; null: none. A new step waits until all recorded ones were found. */
  findStep(key: StepKey): Promise<StepRecord | null>;
  /** Resolves when the result is committed. */
  recordStep(step: StepRecord): Promise<void>;
  /** The storage of this agent in this context, for this caller. */
  readonly storage: ContextStorage;
  /** The long-term memory of this caller. */
  readonly items: CallerItems;
  readonly caller: Pick<Scope, "tenant" | "principal">;
  /** The credentials that the caller gave to this agent under this name; undefined: none that are valid. */
  credentials(name: string): Promise<Credential | undefined>;
  /** How the caller can give them. */
  authorizationOptions(request: AuthorizationRequest): AuthorizationOptions;
  readonly outbound: Outbound;
  /** The other agents of this server. */
  readonly agents: LocalAgents;
  /** MCP servers by their names in the config. */
  readonly tools: McpServerProvider;
  /** The trace of this run, to be propagated to other servers. */
  readonly trace: Trace | undefined;
  newId(): string;
  /** The wall time. */
  now(): number;
  /** Waits by the clock of the server; rejects with the signal's reason. `inStep`: a step waits for it. */
  wait(ms: number, signal: AbortSignal, inStep: boolean): Promise<void>;
  /** At least 0, below 1. */
  random(): number;
}
/** The events that an agent can emit. */
export type AgentEvent = Extract<TaskEvent, { type: "status" | "artifact" | "reply" | "usage" | "chunk" }>;
