/**
 * The JSON of the admin API (docs/reference/admin-api.md), which the console and scripts read.
 * Times are milliseconds since 1970-01-01 UTC and end in `At`; durations end in `Ms`.
 */
import type { Json, JsonObject } from "../lib/json.ts";
import type { ErrorRecord, Permission, TaskState, Usage } from "../model/index.ts";

export const ADMIN_API_PATH = "/admin/v1";

/** GET /me */
export interface Me {
  readonly principal: string;
  readonly tenants: readonly string[];
  readonly permissions: readonly Permission[];
  /** The caller sees the tasks of all callers, errors, log lines, figures and the configuration. */
  readonly isOperator: boolean;
  /** POST and DELETE of this API are allowed. */
  readonly mayAct: boolean;
  readonly console: "read" | "on";
  /** false: every call has the same principal, and no token is needed. */
  readonly needsToken: boolean;
  readonly version: string;
  readonly node: string;
  readonly nowAt: number;
  readonly features: {
    readonly dialects: readonly DialectInfo[];
    /** Tokens can be listed, created and revoked. */
    readonly tokens: boolean;
    readonly grpc: boolean;
    readonly mcp: boolean;
    /** Agents are models of the OpenAI API at `/v1`. */
    readonly openai: boolean;
    readonly cluster: boolean;
  };
}

export interface DialectInfo {
  /** "v1", "v03", "v02", "v01", "langgraph", "orloj", "arbiter", "simple" */
  readonly name: string;
  /** "A2A 1.0" */
  readonly title: string;
}

/** GET /agents: `{ agents: AgentRow[] }`; GET /agents/{agent}: `AgentRow`. */
export interface AgentRow {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly isDefault: boolean;
  /** "function", "langgraph", "remote", … */
  readonly runtime: string;
  /** "ok": the last run on this node ended normally; "failing": it failed; "idle": there was none. */
  readonly health: "ok" | "failing" | "idle";
  readonly replies: "task" | "message" | "either";
  readonly streaming: boolean;
  readonly pushNotifications: boolean;
  readonly hasExtendedCard: boolean;
  readonly access: "public" | "authenticated";
  readonly inputSchema: JsonObject | null;
  readonly outputSchema: JsonObject | null;
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
  readonly skills: readonly AgentSkillRow[];
  /** Tasks that this caller may see. */
  readonly tasks: TaskCounts;
  /** Of this node since its start; operators only. */
  readonly runs: AgentRuns | null;
  readonly addresses: readonly AgentUrl[];
}
export interface AgentSkillRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples: readonly string[];
  /** null: that of the agent. */
  readonly inputSchema: JsonObject | null;
}
export interface AgentRuns {
  readonly node: string;
  readonly finished: number;
  readonly failed: number;
  readonly crashes: number;
  readonly lastEndedAt: number | null;
}
export interface AgentUrl {
  readonly dialect: string;
  readonly title: string;
  /** "JSON-RPC", "HTTP+JSON", "gRPC" or "card" */
  readonly binding: string;
  readonly url: string;
}

/** GET /agents/{agent}/cards: `{ cards: CardForm[] }` */
export interface CardForm {
  /** "hybrid", "v1", "v03", "v02", "v01", "langgraph", "orloj", "arbiter", "simple", "extended" */
  readonly form: string;
  readonly title: string;
  /** The path of the card on this server. */
  readonly path: string;
  readonly card: JsonObject;
  readonly findings: readonly CardFinding[];
  /** The number of checks without a finding. */
  readonly passed: number;
  readonly signatures: readonly CardSignature[];
}
export interface CardFinding {
  readonly level: "error" | "warning" | "note";
  readonly title: string;
  readonly text: string;
  /** "A2A 1.0 §4.4.6, AgentInterface" */
  readonly section: string;
  /** Where in the card: "supportedInterfaces[0].url". */
  readonly path: string;
}
export interface CardSignature {
  readonly isValid: boolean;
  readonly keyId: string | null;
  readonly algorithm: string | null;
  /** What the signature covers, or why it is not valid. */
  readonly text: string;
}

/** A row of the list of tasks, also in the inbox and in the feed. */
export interface TaskRow {
  readonly id: string;
  readonly alias: string | null;
  readonly agent: string;
  readonly contextId: string;
  readonly state: TaskState;
  /** The beginning of the first message. */
  readonly title: string;
  /** The newest text: of the status, of the answer, or of the reply; shortened. */
  readonly text: string;
  readonly tenant: string;
  readonly principal: string;
  /** The dialect of the call that created it. */
  readonly dialect: string;
  readonly turns: number;
  readonly runs: number;
  /** Interrupted runs of the current turn. */
  readonly crashes: number;
  readonly events: number;
  readonly createdAt: number;
  /** When the state was entered. */
  readonly stateAt: number;
  readonly endedAt: number | null;
  readonly cancelAt: number | null;
  /** The answer is a bare message: callers see no task. */
  readonly isReply: boolean;
  readonly usage: Usage | null;
}
/** GET /tasks */
export interface TaskRowPage {
  readonly tasks: readonly TaskRow[];
  /** "": the list ends here. A page can be short or empty and still have a next one. */
  readonly nextPageToken: string;
}
/** GET /tasks/counts */
export interface TaskCounts {
  readonly total: number;
  readonly byState: Readonly<Record<TaskState, number>>;
}

/** GET /tasks/{id} */
export interface TaskDetail {
  readonly task: TaskRow;
  /** Why the task is in its state, in one sentence. */
  readonly why: string;
  readonly phase: "queue" | "run" | "input" | "auth" | "ended";
  readonly phaseAt: number;
  readonly times: {
    readonly queueMs: number;
    readonly runMs: number;
    /** Waiting for the caller. */
    readonly inputMs: number;
    /** Between an interrupted run and the next one. */
    readonly interruptedMs: number;
  };
  readonly turns: readonly TurnRow[];
  readonly runs: readonly RunRow[];
  readonly steps: readonly StepRow[];
  readonly entries: readonly TimelineRow[];
  /** Entries in the middle that were left out; 0: none. */
  readonly entriesOmitted: number;
  /** The events were deleted by retention: only the last state is known. */
  readonly isCompacted: boolean;
  readonly deliveries: readonly Delivery[];
  /** The first message, in v1, to send it again. */
  readonly input: JsonObject | null;
}
export interface TurnRow {
  readonly turn: number;
  readonly seq: number;
  readonly at: number;
  readonly text: string;
  readonly binding: string;
  readonly traceId: string | null;
  readonly idempotencyKey: string | null;
}
export interface RunRow {
  readonly run: number;
  readonly turn: number;
  readonly seq: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly queueMs: number;
  /** A state, "broken" (the agent threw), "interrupted" (no end was recorded), "released" (the server stopped); null: running. */
  readonly outcome: string | null;
  /** Operators only. */
  readonly error: ErrorRecord | null;
}
export interface StepRow {
  readonly run: number;
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly name: string;
  readonly threw: boolean;
  /** The task of another agent that the step called. */
  readonly called: string | null;
  /** At most: the time since the previous event. */
  readonly withinMs: number;
}
export interface TimelineRow {
  readonly seq: number;
  /** Of chunks that are one entry: the last one; else as `seq`. */
  readonly lastSeq: number;
  readonly at: number;
  readonly lastAt: number;
  /** "message", "answer", "run 2", "step", "call", "sleep", "progress", "artifact", "usage", "cancel", "released", "replied" or a state. */
  readonly what: string;
  readonly text: string;
  readonly run: number;
  readonly turn: number;
  /** Of an artifact: its name, or its id if it has none. */
  readonly output?: { readonly name: string; readonly chunks: number; readonly bytes: number };
}

/** GET /tasks/{id}/events, and the `data` of GET /tasks/{id}/events/stream */
export interface EventPage {
  readonly events: readonly EventRow[];
  /** The newest event of the task. */
  readonly lastSeq: number;
  /** Events up to this one were deleted; 0: none. */
  readonly compactedSeq: number;
}
export interface EventRow {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  /** As it is in the log; `error` of a status is for operators only. */
  readonly event: JsonObject;
}

/** GET /tasks/{id}/dialects: `{ dialects: DialectView[] }` */
export interface DialectView extends DialectInfo {
  /** The whole task in this dialect; null: see `problem`. */
  readonly task: Json;
  readonly problem: string | null;
}
/** GET /tasks/{id}/frames */
export interface FramePage {
  readonly frames: readonly FrameRow[];
  readonly lastSeq: number;
}
export interface FrameRow {
  readonly seq: number;
  readonly at: number;
  /** By dialect; null: the dialect has no message for this event. */
  readonly byDialect: Readonly<Record<string, DialectFrame | null>>;
}
/** As it is on the wire: `id:`, `event:` and `data:` of the stream. */
export interface DialectFrame {
  readonly event: string | null;
  readonly data: Json;
}

/** GET /tasks/{id}/curl: `{ commands: CurlCommand[] }` */
export interface CurlCommand extends DialectInfo {
  readonly binding: string;
  readonly action: "get" | "subscribe" | "send" | "cancel";
  readonly command: string;
}

/** GET /tasks/{id}/logs and GET /logs; operators only. */
export interface LogPage {
  /** Each node has the lines of its own runs only, the newest, in memory. */
  readonly node: string;
  readonly lines: readonly LogLine[];
  /** Older lines were dropped. */
  readonly isShortened: boolean;
}
export interface LogLine {
  readonly at: number;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly text: string;
  readonly task: string | null;
  readonly run: number | null;
  readonly facts: JsonObject;
}

/** GET /contexts */
export interface ContextPage {
  readonly contexts: readonly ContextRow[];
  readonly nextPageToken: string;
}
export interface ContextRow {
  readonly contextId: string;
  readonly agent: string;
  readonly tenant: string;
  readonly principal: string;
  /** The title of its first task. */
  readonly title: string;
  /** Its newest task. */
  readonly task: TaskRow;
}
/** GET /contexts/{contextId}: the oldest first. */
export interface ContextDetail {
  readonly contextId: string;
  readonly tasks: readonly ContextTask[];
  readonly nextPageToken: string;
}
export interface ContextTask {
  readonly row: TaskRow;
  /** The whole task in v1, with its history and artifacts; of a reply also. */
  readonly task: Json;
  /** The bare message that the agent answered with, in v1. */
  readonly reply: Json;
}

/** GET /inbox: the task that waits longest first. */
export interface InboxPage {
  readonly tasks: readonly InboxRow[];
  readonly nextPageToken: string;
  /** Of all pages. */
  readonly total: number;
}
export interface InboxRow {
  readonly task: TaskRow;
  /** The question or the request for authorization: a message in v1. */
  readonly message: Json;
  /** The ids of several questions that wait for answers. */
  readonly asks: readonly string[];
  /** The credentials that the agent asks for; null: it asks a question. */
  readonly authorization: { readonly name: string; readonly scheme: string } | null;
  /** The server asks whether an interrupted run shall be repeated. */
  readonly asksToRepeat: boolean;
}

/** GET /deliveries */
export interface DeliveryPage {
  readonly deliveries: readonly Delivery[];
  readonly nextPageToken: string;
}
export interface Delivery {
  readonly taskId: string;
  readonly configId: string;
  readonly agent: string;
  readonly tenant: string;
  readonly principal: string;
  readonly url: string;
  readonly dialect: string;
  /** "all", or "status": no artifacts. */
  readonly events: string;
  /** "waiting" for the next event, "failing": there is a next try, "done": all is delivered, "dead": given up. */
  readonly state: "waiting" | "failing" | "done" | "dead";
  /** Secrets that are set: "credentials", "token", "secret". */
  readonly has: readonly string[];
  /** Events up to this one are delivered. */
  readonly deliveredSeq: number;
  readonly setAt: number;
  readonly nextAt: number | null;
  readonly failures: number;
  readonly failingSinceAt: number | null;
  /** The newest ones, oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
}
export interface DeliveryAttempt {
  readonly at: number;
  /** The newest event in the payload. */
  readonly seq: number;
  /** null: no response. */
  readonly status: number | null;
  readonly latencyMs: number;
  readonly error: string | null;
  readonly nextAt: number | null;
}
