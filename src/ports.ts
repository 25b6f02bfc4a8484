/** Everything that is pluggable; what is asked and answered, and smaller sockets, have pages of their own beside it. A room implements one of these or uses them; rooms do not know each other. */
import type {
  AgentCard,
  AgentName,
  AgentPolicy,
  Credential,
  Fault,
  FaultCode,
  FaultDetails,
  Json,
  JsonObject,
  ListFilter,
  Message,
  Name,
  Named,
  Note,
  NotePlace,
  Page,
  PushConfig,
  Scope,
  SecurityScheme,
  Seq,
  Step,
  Task,
  TaskEvent,
  TaskId,
  TaskState,
  Trace,
  View,
} from "./model/index.ts";
import type { Caller, Grant, KnownCaller } from "./ports/caller.ts";
import type { AuthWays, AuthWish } from "./ports/credentials.ts";
import type { Log } from "./ports/log.ts";
import type { McpServers } from "./ports/mcp.ts";
import type { Answer, Operation, Steps } from "./ports/operation.ts";
import type { Outbound } from "./ports/outbound.ts";
import type { Beside, Deliveries, Pushes } from "./ports/push.ts";
import type { Run, RunQueue } from "./ports/runs.ts";
import type { OwnShelf, Shelf } from "./ports/shelf.ts";
import type { Source } from "./ports/source.ts";
import type { Release } from "./ports/unread.ts";
import type { Upkeep } from "./ports/upkeep.ts";
import type { Upstream } from "./ports/upstream.ts";
import type { UsageBook } from "./ports/usage.ts";

export type { ListFilter, Name, Named, Page } from "./model/index.ts";
export type * from "./ports/access.ts";
export * from "./ports/bus.ts";
export type * from "./ports/caller.ts";
export type * from "./ports/credentials.ts";
export type * from "./ports/keys.ts";
export type * from "./ports/log.ts";
export type * from "./ports/loop-budget.ts";
export type * from "./ports/mcp.ts";
export type * from "./ports/operation.ts";
export type * from "./ports/outbound.ts";
export type * from "./ports/own.ts";
export type * from "./ports/push.ts";
export type * from "./ports/runs.ts";
export type * from "./ports/shelf.ts";
export type * from "./ports/source.ts";
export type * from "./ports/unread.ts";
export type * from "./ports/upkeep.ts";
export type * from "./ports/upstream.ts";
export type * from "./ports/usage.ts";
export type * from "./ports/watch.ts";

// ---- 1. bytes <-> calls --------------------------------------------------------------------------------------

export type TransportName = Route["transport"] | "grpc";
/** Header names in lower case; a header that came twice is joined with a comma, as HTTP allows. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** How somebody calls, as far as the form of a reply depends on it: what is kept of a call while its stream is open. */
export interface Manner {
  readonly transport: TransportName;
  /** The pattern of the path that was called, as a dialect's routes spell it; for gRPC `grpc:PACKAGE`. */
  readonly endpoint: string;
  readonly headers: Headers;
  readonly query: URLSearchParams;
  readonly method: string;
}

/** One call as a transport understood it: the envelope is gone, the words are still the dialect's. */
export interface WireCall extends Caller, Manner {
  /** What stands in the path where the endpoint has a name in braces. */
  readonly vars: PathVars;
  /** Scheme and host under which the caller reached us, without a trailing slash. */
  readonly base: Lazy<string>;
  readonly params: Json | undefined;
  /** How large it came, roughly. */
  readonly bytes: number;
  /** What came in the envelope beside the parameters (seed 001 of the LangGraph dialect). */
  readonly metadata: Json | undefined;
  /** Ends the caller's reading, never a run. */
  readonly signal: Lazy<AbortSignal>;
}

export type PathVars = Readonly<Record<string, string | undefined>>;

export type WireReply = {
  readonly headers: Readonly<Record<string, string>>;
  readonly envelope: Envelope;
} /** `release`, of a large answer: to be called when it is written, or is not wanted (see `Unread`). */ & (
  | { readonly kind: "one"; readonly json: string; readonly release?: Release }
  | { readonly kind: "many"; readonly frames: Source<readonly Frame[]> }
  | { readonly kind: "fault"; readonly fault: WireFault }
);

/** One piece of a stream; its JSON is made once per dialect, however many readers there are. */
export interface Frame {
  readonly id?: Seq;
  readonly event?: string;
  readonly json: string;
  /** This dialect streams without the transport's envelope. */
  readonly bare?: boolean;
  /** The stream breaks off with this; `json` is empty. */
  readonly fault?: WireFault;
}

export interface WireFault extends FaultNumbers {
  readonly code: FaultCode;
  readonly message: string;
  readonly data?: Json;
  /** The HTTP status of a JSON-RPC reply. Most dialects say 200 whenever there is an envelope: see `statusOf`. */
  readonly status: number;
  /** Said instead of the transport's own form of an error. */
  readonly body?: Json;
  /** Found out before the envelope was read: the reply has no id. */
  readonly anonymous?: boolean;
  /** This dialect's readers expect even a refusal as a stream. */
  readonly asStream?: boolean;
}

export interface Pipeline {
  /**
   * Asked before anything of a call is read: a Fault if its caller is not known, and has to be. `agent`: whom the call is
   * for, if that is known by then.
   */
  meet(caller: Caller, agent: string | undefined): Met | Promise<Met>;
  /** `met`: what was found out about the caller, if somebody asked before. */
  handle(call: WireCall, met?: Met): Promise<WireReply>;
  /** A refusal before there was a call: still said in the dialect that the caller seems to speak. */
  refuse(call: WireCall, fault: Fault): WireReply;
}

// ---- 2. calls <-> operations (pure: no clock, no I/O, no lookup) ---------------------------------------------

export interface Dialect {
  readonly name: string;
  /** Where calls arrive and cards are read, as data. */
  readonly routes: readonly Route[];
  /** Total: a new fault will not compile without its numbers. */
  readonly faults: FaultTable;
  /** What it does with the JSON-RPC envelope. */
  readonly envelope: Envelope;
  /** Whether its cards have a place for signatures. */
  readonly signsCards: boolean;
  /** By endpoint, headers and method name; by the shape of the parameters only where generations share a method. */
  claims(call: WireCall): boolean;
  decode(call: WireCall): Operation;
  encode(operation: Operation, answer: Answer): Json;
  /** Which dialect speaks the answer about what was made in `origin`: generations share `tasks/get` and its kin. */
  voice(call: Manner, origin: string): string;
  /**
   * `closing`: the stream ends after this step. `form`: see `Operation`. null: this dialect has no word for it.
   */
  encodeStep(step: Step, closing: boolean, form: string | undefined): SaidStep | null;
  /** What a webhook that was set in this dialect gets for a step; null: nothing, or nothing that the config asks for. */
  encodePush(step: Step, config: PushConfig): SaidPush | null;
  encodeFault(fault: { code: FaultCode; message: string; details: FaultDetails }, call: Manner): WireFault;
  /** Headers of every reply: which version was spoken, which extensions are active. */
  replyHeaders(call: Manner, active: readonly string[]): Readonly<Record<string, string>>;
}
export interface SaidStep {
  readonly event?: string;
  readonly data: Json;
  readonly bare?: boolean;
  /** What it took from the task does not change while words are added to the same artifact. */
  readonly steady?: boolean;
}
export interface SaidPush {
  /** The Content-Type of the body. */
  readonly type: string;
  readonly body: Json;
}
/** What a dialect does with the JSON-RPC envelope around its words. */
export interface Envelope {
  /** What a call without an id gets: nothing but a status, or an answer under the id null. */
  readonly withoutId: 202 | 204 | "answer";
  readonly nullId: 202 | "answer";
  /** Whether the pieces of a stream carry the call's id. */
  readonly idInFrames: boolean;
}
/** The three numbers of an error; `grpc` by its name in google.rpc.Code. */
export interface FaultNumbers {
  readonly rpc: number;
  readonly http: number;
  readonly grpc: string;
}
export type FaultTable = Readonly<Record<FaultCode, FaultNumbers>>;
/** `method` is what a transport puts in the call; for JSON-RPC the body names it. */
export interface Route {
  /** "document": a card and the like, which callers may keep for a while. */
  readonly transport: "jsonrpc" | "rest" | "document";
  readonly verb: "GET" | "POST" | "DELETE";
  /** `/agents/{agent}`: a part in braces is one segment. */
  readonly path: string;
  readonly method: string;
}

export type Core = (operation: Operation, scope: Scope, signal: Lazy<AbortSignal>) => Promise<Answer | Steps>;
/** A value that is made only if somebody asks: an abort signal costs more than the rest of a get. */
export type Lazy<T> = () => T;

// ---- 3. who is calling, and for whom -------------------------------------------------------------------------

export interface Guard {
  /** What cards tell about it; any one of them is enough. Empty: nobody is asked. */
  readonly schemes: readonly SecurityScheme[];
  /**
   * By what comes with a call beside its words. undefined: the caller says nothing about himself; a
   * Fault("unauthenticated"): what he says is not good.
   */
  identify(caller: Caller): Principal | undefined | Promise<Principal | undefined>;
  /** Whether this agent, or else any, may be for those who say nothing about themselves. */
  takesStrangers(agent: string | undefined): boolean;
  /** A Fault("unauthenticated") if nothing is known of the caller. */
  need(principal: Principal | undefined): Principal;
  /** A Fault("unauthenticated") if what the principal was known by is no longer good. */
  check(principal: Principal): void | Promise<void>;
  /** The only way to obtain a Scope. */
  admit(principal: Principal | undefined, operation: Operation): Scope;
  /** Calls `lapsed` when what the principal was known by is no longer good, until the returned function is called. */
  onLapse(principal: Principal, lapsed: (fault: Fault) => void): () => void;
}
/** Whoever calls; a stranger has no principal. */
export interface Met {
  readonly principal: Principal | undefined;
}
export interface Principal {
  readonly subject: string;
  readonly tenants: readonly string[];
  readonly grants: readonly Grant[];
  /** See `Scope`. */
  readonly agents: ReadonlySet<AgentName> | undefined;
  /** Whether what it was known by is still good. */
  isGood(): boolean | Promise<boolean>;
}

// ---- 4. what happened ----------------------------------------------------------------------------------------

export interface Store {
  readonly log: EventLog;
  readonly tasks: TaskIndex;
  readonly runs: RunQueue;
  readonly upkeep: Upkeep;
  readonly shelf: Shelf;
  readonly pushes: Pushes;
  readonly deliveries: Deliveries;
  readonly usage: UsageBook;
  /** How many servers work on it, this one among them, as far as is known. */
  nodes(): number;
  /** The time of the newest event, so that a clock that was set back goes on from there. */
  readonly lastAt: number;
  close(): Promise<void>;
}
export interface EventLog {
  /**
   * Records events and resolves when they are committed. Fault("conflict") if what is expected no longer holds, told
   * when what came first can be read; Fault("task-not-found") if the task is not there for this scope.
   */
  append(
    scope: Scope,
    taskId: TaskId,
    events: readonly TaskEvent[],
    expected: Expected,
    beside?: Beside,
  ): Promise<void>;
  /**
   * Committed steps after a place, oldest first: at most `max`, and at least one if there is any; a task that is not there for this scope is a Fault. Where events were
   * compacted, the task as it ended is the one step.
   */
  read(scope: Scope, taskId: TaskId, after: Seq, max: number): Promise<readonly Step[]>;
}
/**
 * What must still be true when an append is recorded: the log ends where the writer saw it, the task is in the state
 * in which the writer saw it, or the writer still holds the run. `free`: no other task of its context wants a run, or
 * else it is a Fault("busy"). After one refused append of a run all its later ones are refused, so that no log has a gap;
 * `afterRefusal`: the run knows that, and ends its task as failed or canceled.
 */
export type Expected =
  | { readonly after: Seq; readonly free?: boolean }
  | { readonly state: TaskState }
  | { readonly run: Run; readonly afterRefusal?: true };
export interface TaskIndex {
  /** The task to which a caller gave this name. */
  named(scope: Scope, agent: AgentName, name: Name): Promise<Named | null>;
  get(scope: Scope, taskId: TaskId): Promise<Found | null>;
  /**
   * A page has as many tasks as were asked for, or fewer: it ends before it has more than `LIMITS.pageBytesMax`. `view`: what
   * of each task will be shown; without it, all.
   */
  list(scope: Scope, agent: AgentName, filter: ListFilter, view?: View): Promise<Page>;
  /** The ids of the tasks that such a list would begin with; the tasks themselves are not read. */
  newest(scope: Scope, agent: AgentName, max: number): Promise<readonly TaskId[]>;
  /** How many tasks are kept for this caller, and for all callers of its tenant. */
  count(scope: Scope): Promise<{ readonly caller: number; readonly tenant: number }>;
}
export interface Found {
  readonly task: Task;
  /** The newest event. */
  readonly seq: Seq;
  /** Events up to this one are no longer kept; 0: all are. */
  readonly since: Seq;
}

// ---- 5. who does the work ------------------------------------------------------------------------------------

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
export interface Catalog extends SeenAgents {
  names(): ReadonlySet<AgentName>;
  /** What a caller may know of: for him it is as if there were no others. */
  seenBy(scope: Scope): SeenAgents;
}
export interface SeenAgents {
  /** By its name, or by the UUID that follows from its name; undefined: the default agent. */
  find(name: AgentName | undefined): Agent | undefined;
  all(): readonly Agent[];
  /** The default agent; undefined: there are none. */
  readonly fallback: AgentName | undefined;
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
  recall(place: NotePlace): Promise<Note | null>;
  /** Puts a note on record; resolves when it is committed. */
  note(note: Note): Promise<void>;
  /** What this agent puts away in this context, for this caller. */
  readonly shelf: OwnShelf;
  readonly caller: Pick<Scope, "tenant" | "principal">;
  /** What the caller gave to this agent under this name; undefined: nothing that still holds. */
  credentials(name: string): Promise<Credential | undefined>;
  /** How the caller can give it. */
  waysToAuthorize(wish: AuthWish): AuthWays;
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
