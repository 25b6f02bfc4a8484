/**
 * A small protocol of its own: `POST /simple-chat/hello` with `{ "text": "hi" }` answers `{ "task", "state", "text" }`; with
 * `task` it answers a question. `/stream` streams, `/tasks/ID` reads and cancels.
 */
import {
  type AgentName,
  type Dialect,
  Fault,
  type FaultCode,
  type FaultTable,
  type Operation,
  type OperationResult,
  type Route,
  type Step,
  type Task,
  type TaskId,
  textOf,
  type WireCall,
} from "dragoman/ports";

const BASE = "/simple-chat/{agent}";

const ROUTES: readonly Route[] = [
  { transport: "rest", verb: "POST", path: BASE, method: "send" },
  { transport: "rest", verb: "POST", path: `${BASE}/stream`, method: "stream" },
  { transport: "rest", verb: "GET", path: `${BASE}/tasks/{task}`, method: "get" },
  { transport: "rest", verb: "DELETE", path: `${BASE}/tasks/{task}`, method: "cancel" },
];
const PATHS: ReadonlySet<string> = new Set(ROUTES.map(({ path }) => path));

/** The HTTP status of every fault: a new one does not compile without its row. */
const STATUSES: Readonly<Record<FaultCode, number>> = {
  parse: 400,
  "invalid-request": 400,
  "method-not-found": 404,
  "invalid-params": 400,
  internal: 500,
  "task-not-found": 404,
  "task-not-cancelable": 409,
  "push-not-supported": 400,
  "unsupported-operation": 400,
  "content-type-not-supported": 415,
  "invalid-agent-response": 502,
  "extended-card-not-configured": 404,
  "extension-required": 400,
  "version-not-supported": 400,
  "agent-not-found": 404,
  unauthenticated: 401,
  forbidden: 403,
  conflict: 409,
  "task-generation-mismatch": 409,
  "key-reused": 409,
  busy: 409,
  "rate-limited": 429,
  "too-large": 413,
  "too-slow": 408,
  unavailable: 503,
};

/** JSON-RPC and gRPC are not spoken here: their numbers are never seen. */
const FAULTS = Object.fromEntries(
  Object.entries(STATUSES).map(([code, http]) => [code, { rpc: -32_000, http, grpc: "UNKNOWN" }]),
) as unknown as FaultTable;

const invalid = (field: string, rule: string): Fault =>
  new Fault("invalid-params", `${field} ${rule}`, { field });

function decodeSend(call: WireCall): Extract<Operation, { readonly op: "send" }>["send"] {
  const { params } = call;
  if (typeof params !== "object" || params === null || Array.isArray(params))
    throw invalid("body", "must be a JSON object");
  const { text, task } = params as { readonly text?: unknown; readonly task?: unknown };
  if (typeof text !== "string" || text === "") throw invalid("text", "must be a text");
  if (task !== undefined && typeof task !== "string") throw invalid("task", "must be the id of a task");
  return {
    origin: "chat",
    shown: true,
    message: { role: "user", parts: [{ kind: "text", text }] },
    extensions: [],
    ...(task !== undefined && { taskId: task as TaskId }),
  };
}

const WHOLE = { artifacts: true } as const;

const METHODS: Readonly<Record<string, (call: WireCall) => Operation>> = {
  send: call => ({ op: "send", agent: agentOf(call), send: decodeSend(call), until: "settled", view: WHOLE }),
  stream: call => ({
    op: "stream",
    agent: agentOf(call),
    send: decodeSend(call),
    until: "settled",
    view: WHOLE,
  }),
  get: call => ({ op: "get", agent: agentOf(call), taskId: call.vars.task as TaskId, view: WHOLE }),
  cancel: call => ({ op: "cancel", agent: agentOf(call), taskId: call.vars.task as TaskId, again: "task" }),
};

const agentOf = ({ vars }: WireCall): AgentName => vars.agent as AgentName;

const encodeTask = ({ id, status, artifacts }: Task) => ({
  task: id,
  state: status.state,
  text: textOf(artifacts.flatMap(artifact => artifact.parts)),
  ...(status.message && { message: textOf(status.message.parts) }),
});

function encodeResult(result: OperationResult) {
  if (result.kind === "task") return encodeTask(result.task);
  throw new Error(`this protocol has no form for a result of the kind "${result.kind}"`);
}

/** Chunks of text as they come; the task at the beginning and whenever its state changes. */
function encodeStep({ event, task }: Step) {
  if (event?.type === "artifact") return { data: { text: textOf(event.artifact.parts) } };
  return event === null || event.type === "status" ? { data: encodeTask(task) } : null;
}

/** `createServer({ agents, protocols: [createChatProtocol()] })` */
export const createChatProtocol = (): Dialect => ({
  name: "chat",
  routes: ROUTES,
  faults: FAULTS,
  envelope: { withoutId: "none", idInFrames: false },
  signsCards: false,
  claims: call => PATHS.has(call.endpoint),
  decode: call => (METHODS[call.method] as (call: WireCall) => Operation)(call),
  encode: (_operation, result) => encodeResult(result),
  replyDialect: () => "chat",
  encodeStep,
  createEncoder: () => null,
  encodePush: () => null,
  encodeFault: ({ code, message }) => ({
    code,
    ...FAULTS[code],
    status: FAULTS[code].http,
    message,
    body: { error: { code, message } },
  }),
  replyHeaders: () => ({}),
});
