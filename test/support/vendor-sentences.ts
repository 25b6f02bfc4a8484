import type { Sentence } from "./langgraph-sentences.ts";

const call = (method: string, params: object, id: unknown = "req-1") => ({
  jsonrpc: "2.0",
  ...(id !== undefined && { id }),
  method,
  params,
});

// ---- Orloj "A2A JSON-RPC" ------------------------------------------------------------------------------------

const orlojMessage = (text = "Summarize") => ({ role: "user", parts: [{ type: "text", text }] });
const orlojAt = (body: unknown, agent = "echo") => ({ path: `/v1/agent-systems/${agent}/a2a`, body });
let tasks = 0;
const orlojSend = (more: object = {}, agent?: string) =>
  orlojAt(call("tasks/send", { id: `task-${++tasks}`, message: orlojMessage(), ...more }), agent);

const ORLOJ: readonly Sentence[] = [
  {
    statement: "O2",
    text: "AgentSystem name in the path determines routing",
    request: orlojSend(),
    expected: (_, { result }) => result.status.state === "completed",
  },
  {
    statement: "O2",
    text: "Legacy /v1/agents/{name}/a2a paths are accepted",
    request: { ...orlojSend(), path: "/v1/agents/echo/a2a" },
    expected: (_, { result }) => result.status.state === "completed",
  },
  {
    statement: "O5",
    text: "The server rejects requests without an id",
    request: orlojSend({ id: undefined }),
    expected: (_, { error }) => error.code === -32602,
  },
  {
    statement: "O4",
    text: "The id field can be a string or integer",
    request: orlojAt(call("tasks/send", { id: "task-i", message: orlojMessage() }, 7)),
    expected: (_, { id }) => id === 7,
  },
  {
    statement: "O4",
    text: "If omitted, the request is treated as a notification (no response body)",
    request: orlojAt({ jsonrpc: "2.0", method: "tasks/get", params: { id: "x" } }),
    expected: ({ text }) => text === "",
  },
  {
    statement: "O8",
    text: "metadata: map[string]string, attached to the task",
    request: orlojSend({ metadata: { source: "external-workflow" } }),
    expected: (_, { result }) => result.metadata.source === "external-workflow",
  },
  {
    statement: "O9",
    text: 'code: -32001, message: "task not found", data.task_id',
    request: orlojAt(call("tasks/get", { id: "a2a-task-unknown" })),
    expected: (_, { error }) =>
      error.code === -32001 &&
      error.message === "task not found" &&
      error.data.task_id === "a2a-task-unknown",
  },
  {
    statement: "O11",
    text: "event: status … full task result including id, status, artifacts",
    request: orlojAt(call("tasks/sendSubscribe", { id: "task-s", message: orlojMessage() })),
    expected: ({ text }) => text.includes("event: status\n") && /"state":"completed".*"artifacts"/.test(text),
  },
  {
    statement: "O12",
    text: "-32700 Parse error: Invalid JSON",
    request: orlojAt("{"),
    expected: (_, { error }) => error.code === -32700,
  },
  {
    statement: "O12",
    text: "-32601 Method not found: Unknown method name",
    request: orlojAt(call("tasks/sing", {})),
    expected: (_, { error }) => error.code === -32601,
  },
  {
    statement: "O2",
    text: "-32003 Agent not found: Target agent does not exist",
    request: orlojSend({}, "nope"),
    expected: (_, { error }) => error.code === -32003,
  },
  {
    statement: "O13",
    text: "index: Artifact index for ordering",
    request: orlojSend(),
    expected: (_, { result }) => result.artifacts[0].index === 0 && !("timestamp" in result.status),
  },
];

// ---- Arbiter "POST /v1/a2a/agents/:id" -----------------------------------------------------------------------

const arbiterAt = (body: unknown, headers?: Readonly<Record<string, string>>, agent = "echo") => ({
  path: `/v1/a2a/agents/${agent}`,
  body,
  ...(headers && { headers }),
});
const arbiterParams = (more: object = {}) => ({
  message: { role: "user", messageId: "m-1", parts: [{ kind: "text", text: "hi" }], ...more },
});
const arbiterSend = (more?: object, headers?: Readonly<Record<string, string>>, agent?: string) =>
  arbiterAt(call("message/send", arbiterParams(more), 1), headers, agent);
const refusal =
  (code: number): Sentence["expected"] =>
  ({ status }, { error }) =>
    status === 200 && error.code === code;

const ARBITER: readonly Sentence[] = [
  {
    statement: "A6",
    text: "messageId: <task>-r; history: user message + agent reply",
    request: arbiterSend(),
    expected: (_, { result }) =>
      result.status.message.messageId === `${result.id}-r` && result.history.length === 2,
  },
  {
    statement: "A6",
    text: '"x-arbiter.agent_id": "index"',
    request: arbiterSend({}, undefined, "index"),
    expected: (_, { result }) => result.metadata["x-arbiter.agent_id"] === "index",
  },
  {
    statement: "A5",
    text: "contextId is optional and threaded through verbatim",
    request: arbiterSend({ contextId: "c-42" }),
    expected: (_, { result }) => result.contextId === "c-42",
  },
  {
    statement: "A5",
    text: "messageId is required",
    request: arbiterSend({ messageId: undefined }),
    expected: refusal(-32602),
  },
  {
    statement: "A5",
    text: "file and data parts trigger ContentTypeNotSupported (-32005)",
    request: arbiterSend({ parts: [{ kind: "data", data: {} }] }),
    expected: refusal(-32005),
  },
  {
    statement: "A3",
    text: "A2A-Version: 1.0 (optional; 1 and empty also accepted)",
    request: arbiterSend({}, { "A2A-Version": "1" }),
    expected: (_, { result }) => result.status.state === "completed",
  },
  {
    statement: "A3",
    text: "A version-check failure happens before envelope parse, so the response carries id: null",
    request: arbiterAt("{", { "A2A-Version": "0.3" }),
    expected: (_, { id, error }) => id === null && error.code === -32007,
  },
  {
    statement: "A7",
    text: "event: message … append: false … final: true",
    request: arbiterAt(call("message/stream", arbiterParams(), 1), { Accept: "text/event-stream" }),
    expected: ({ text }) => text.includes("event: message\n") && /"append":false.*"final":true/s.test(text),
  },
  {
    statement: "A9",
    text: "A task that doesn't exist for the calling tenant returns TaskNotFound (-32001)",
    request: arbiterAt(call("tasks/get", { id: "nope" })),
    expected: refusal(-32001),
  },
  ...["set", "get", "list", "delete"].map(
    (name): Sentence => ({
      statement: "A12",
      text: `tasks/pushNotificationConfig/${name} returns UnsupportedOperation (-32004)`,
      request: arbiterAt(call(`tasks/pushNotificationConfig/${name}`, { id: "x" })),
      expected: refusal(-32004),
    }),
  ),
  {
    statement: "A14",
    text: "MethodNotFound: method is not one of the supported names",
    request: arbiterAt(call("tasks/list", {})),
    expected: refusal(-32601),
  },
  {
    statement: "A14",
    text: "InvalidRequest: Body parses but isn't a JSON-RPC request",
    request: arbiterAt({ hello: 1 }),
    expected: refusal(-32600),
  },
  {
    statement: "A13",
    text: "InvalidAgentResponse: Agent threw mid-turn",
    request: arbiterSend({}, undefined, "thrower"),
    expected: refusal(-32006),
  },
  {
    statement: "A1",
    text: "TaskNotFound: message/send against an unknown agent for the tenant",
    request: arbiterSend({}, undefined, "nope"),
    expected: refusal(-32001),
  },
  {
    statement: "A2",
    text: "404: Bad URL shape (e.g. /v1/a2a/foo)",
    request: { path: "/v1/a2a/foo", body: {} },
    expected: ({ status }) => status === 404,
  },
  {
    statement: "A2",
    text: "405: Wrong method (e.g. GET on the dispatch URL)",
    request: { path: "/v1/a2a/agents/echo", verb: "GET" },
    expected: ({ status }) => status === 405,
  },
];

// ---- simple_a2a "Protocol Details" ---------------------------------------------------------------------------

const simpleParams = {
  message: { messageId: "msg-1", role: "user", parts: [{ text: "hello", kind: "text" }] },
};
const simple = (
  method: string,
  params: object = simpleParams,
  headers?: Readonly<Record<string, string>>,
) => ({
  path: "/",
  body: call(method, params, "abc-123"),
  ...(headers && { headers }),
});

const SIMPLE: readonly Sentence[] = [
  {
    statement: "S1",
    text: "The AgentCard is served at GET /agentCard",
    request: { path: "/agentCard", verb: "GET" },
    expected: (_, card) => card.name === "echo",
  },
  ...[undefined, "1.0", "0.3"].map(
    (version): Sentence => ({
      statement: "S8",
      text: `tasks/send returns the completed task, A2A-Version: ${version}`,
      request: simple("tasks/send", simpleParams, version === undefined ? {} : { "A2A-Version": version }),
      expected: (_, { id, result }) =>
        id === "abc-123" && result.status.state === "completed" && !result.kind,
    }),
  ),
  {
    statement: "S3",
    text: 'data: {"jsonrpc":"2.0","result":{"type":"TaskStatusUpdateEvent" … "final":true}}',
    request: simple("tasks/sendSubscribe"),
    expected: ({ text }) =>
      text.includes('"type":"TaskArtifactUpdateEvent"') && /"completed".*"final":true/.test(text),
  },
  {
    statement: "S4",
    text: "tasks/list: List all tasks",
    request: simple("tasks/list", {}),
    expected: (_, { result }) => Array.isArray(result) && result.length > 0,
  },
  {
    statement: "S7",
    text: "-32001 TASK_NOT_FOUND: No task with the given ID",
    request: simple("tasks/get", { id: "nope" }),
    expected: (_, { error }) => error.code === -32001,
  },
  {
    statement: "S5",
    text: "tasks/pushNotification/get against an unknown task",
    request: simple("tasks/pushNotification/get", { id: "nope" }),
    expected: (_, { error }) => error.code === -32001,
  },
  {
    statement: "S8",
    text: "Any other value returns a VERSION_NOT_SUPPORTED error",
    request: simple("tasks/send", simpleParams, { "A2A-Version": "2.0" }),
    expected: (_, { error }) => error.code === -32008,
  },
  {
    statement: "S8",
    text: "Any other value returns a VERSION_NOT_SUPPORTED error, also for a method of another protocol",
    request: simple("message/send", simpleParams, { "A2A-Version": "2.0" }),
    expected: (_, { error }) => error.code === -32008,
    differs: true,
  },
  {
    statement: "S10",
    text: "-32602 INVALID_PARAMS: Missing or invalid parameters",
    request: simple("tasks/send", { message: { role: "user" } }),
    expected: (_, { error }) => error.code === -32602,
  },
];

export const VENDOR_SENTENCES: readonly Sentence[] = [...ORLOJ, ...ARBITER, ...SIMPLE];
