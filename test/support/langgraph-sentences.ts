/** A sentence of a vendor's document, and a call that shows whether it holds. */
export interface Sentence {
  /** The number on the dialect's page. */
  readonly statement: string;
  /** As the document has it. */
  readonly text: string;
  readonly request: {
    readonly path: string;
    readonly verb?: "GET" | "POST" | "PUT";
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came back.
  expected(seen: Seen, json: any): boolean;
  /** It does not hold by default: docs/dialects/README.md has the reason. */
  readonly differs?: true;
}
export interface Seen {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
}

const CONTEXT = "f5bd2a40-74b6-4f7a-b649-ea3f09890003";
const STREAM = { Accept: "text/event-stream" };
const NO_ACCEPT = { Accept: "image/png" };

const call = (method: string, params: object, more: object = {}) => ({
  jsonrpc: "2.0",
  id: "1",
  method,
  params,
  ...more,
});
const message = (more: object = {}) => ({
  message: { role: "user", parts: [{ kind: "text", text: "Hello" }], messageId: "msg-1", ...more },
});
const at = (body: unknown, headers?: Readonly<Record<string, string>>, agent = "echo") => ({
  path: `/a2a/${agent}`,
  body,
  ...(headers && { headers }),
});
const send = (more?: object, envelope?: object) => at(call("message/send", message(more), envelope));

/** LangSmith "A2A JSON-RPC" and "A2A endpoint in Agent Server". */
export const LANGGRAPH_SENTENCES: readonly Sentence[] = [
  {
    statement: "L2",
    text: "message/send: Send a message and wait for the final Task result",
    request: send(),
    expected: (_, { result }) => result.kind === "task" && result.status.state === "completed",
  },
  {
    statement: "L2",
    text: "artifacts: name: Assistant Response",
    request: send(),
    expected: (_, { result }) =>
      result.artifacts[0].name === "Assistant Response" && result.artifacts[0].parts[0].text === "Hello",
  },
  {
    statement: "L4",
    text: "message/stream: Send a message and receive Server-Sent Events (SSE) JSON-RPC responses",
    request: at(call("message/stream", message()), STREAM),
    expected: ({ type, text }) => type === "text/event-stream" && text.includes('"final":true'),
  },
  {
    statement: "L1",
    text: "dispatches based on method",
    request: at(call("message/sing", {})),
    expected: ({ status }, { error }) => status === 200 && error.code === -32601,
  },
  {
    statement: "L5",
    text: "'Invalid request: Missing required parameter: contextId'",
    request: at(call("tasks/get", { id: "run-uuid" })),
    expected: (_, { error }) =>
      error.code === -32602 && error.message === "Invalid request: Missing required parameter: contextId",
    differs: true,
  },
  {
    statement: "L5",
    text: "Task (run) identifier to retrieve",
    request: at(call("tasks/get", { id: "run-uuid", contextId: CONTEXT })),
    expected: (_, { error }) => error.code === -32001,
  },
  {
    statement: "L6",
    text: "historyLength: minimum: 0, maximum: 10",
    request: at(call("tasks/get", { id: "run-uuid", contextId: CONTEXT, historyLength: 11 })),
    expected: (_, { error }) => error.code === -32602,
  },
  {
    statement: "L7",
    text: "tasks/cancel: Request cancellation (currently not supported; returns an error)",
    request: at(call("tasks/cancel", { id: "run-uuid", contextId: CONTEXT })),
    expected: (_, { error }) => error.code === -32004,
    differs: true,
  },
  {
    statement: "L8",
    text: "message.contextId maps to LangGraph thread_id",
    request: send({ contextId: CONTEXT }),
    expected: (_, { result }) => result.contextId === CONTEXT,
  },
  {
    statement: "L8",
    text: "If message.contextId is omitted, a new context is created",
    request: send(),
    expected: (_, { result }) => result.contextId.length > 0,
  },
  {
    statement: "L9",
    text: "Only text and data parts are supported; file parts are not",
    request: send({ parts: [{ kind: "file", file: { uri: "https://files.example/a" } }] }),
    expected: (_, { error }) => error.code === -32005,
  },
  ...["role", "parts", "messageId"].map(
    (member): Sentence => ({
      statement: "L12",
      text: `required: ${member}`,
      request: send({ [member]: undefined }),
      expected: (_, { error }) => error?.code === -32602,
    }),
  ),
  {
    statement: "L12",
    text: "role: enum: user, agent",
    request: send({ role: "agent" }),
    expected: (_, { result }) => result.status.state === "completed",
  },
  {
    statement: "L13",
    text: "Optional task ID. Currently ignored by this implementation",
    request: send({ contextId: CONTEXT, taskId: "thread-123:run-456" }),
    expected: (_, { result }) => result.status.state === "completed",
  },
  {
    statement: "L16",
    text: "For message/stream, must include text/event-stream",
    request: at(call("message/stream", message())),
    expected: ({ status }) => status === 400,
  },
  {
    statement: "L16",
    text: "Bad Request (… missing Accept header)",
    request: at(call("message/send", message()), NO_ACCEPT),
    expected: ({ status }) => status === 400,
  },
  {
    statement: "L17",
    text: "Bad Request (invalid JSON-RPC …)",
    request: at("{"),
    expected: ({ status }) => status === 400,
  },
  {
    statement: "L18",
    text: "'404': Assistant not found",
    request: at(call("message/send", message()), undefined, "nope"),
    expected: ({ status }) => status === 404,
  },
  {
    statement: "L24",
    text: "required: jsonrpc, id, method",
    request: at({ ...call("message/send", message()), id: undefined }),
    expected: ({ status }) => status === 400,
  },
  {
    statement: "L19",
    text: "thread_id goes at the top level of the JSON-RPC payload, not inside params",
    request: send({ contextId: CONTEXT }, { metadata: { thread_id: "thread-1" } }),
    expected: (_, { result }) => result.contextId === CONTEXT,
  },
  {
    statement: "L19",
    text: '"metadata": {"thread_id": None}',
    request: send({}, { metadata: { thread_id: null } }),
    expected: (_, { result }) => result.status.state === "completed",
  },
  {
    statement: "L21",
    text: "GET /.well-known/agent-card.json?assistant_id={assistant_id}",
    request: { path: "/.well-known/agent-card.json?assistant_id=echo", verb: "GET" },
    expected: (_, card) => card.url.endsWith("/a2a/echo") && card.skills.length > 0,
  },
];
