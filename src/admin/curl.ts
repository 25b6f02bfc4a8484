/** Commands that read, follow, cancel or repeat a task, in each dialect. */
import type { JsonObject } from "../lib/json.ts";
import type { CurlCommand } from "./api.ts";

export interface CurlTarget {
  /** The base URL of the server, without a slash at its end. */
  readonly base: string;
  readonly agent: string;
  readonly taskId: string;
  /** The text of the first message. */
  readonly text: string;
  /** Streams resume after this event; undefined: they begin with the task as it stands. */
  readonly after: number | undefined;
  /** Callers send a token. */
  readonly needsToken: boolean;
}

type Action = CurlCommand["action"];

interface Request {
  readonly verb: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}
type ToRequest = (target: CurlTarget) => Request;

const JSON_TYPE = { "Content-Type": "application/json" };

const call =
  (
    path: (agent: string) => string,
    headers: Readonly<Record<string, string>>,
    method: string,
    params: (target: CurlTarget) => JsonObject,
  ): ToRequest =>
  target => ({
    verb: "POST",
    path: path(encodeURIComponent(target.agent)),
    headers: { ...JSON_TYPE, ...headers },
    body: { jsonrpc: "2.0", id: 1, method, params: params(target) },
  });

const byId = ({ taskId }: CurlTarget): JsonObject => ({ id: taskId });
const byTaskId = ({ taskId }: CurlTarget): JsonObject => ({ taskId });
const kindMessage = ({ text }: CurlTarget): JsonObject => ({
  message: { kind: "message", messageId: "m1", role: "user", parts: [{ kind: "text", text }] },
});
const v1Message = ({ text }: CurlTarget): JsonObject => ({
  message: { messageId: "m1", role: "ROLE_USER", parts: [{ text }] },
});
const v01Message = ({ text }: CurlTarget): JsonObject => ({
  id: "task-1",
  message: { role: "user", parts: [{ type: "text", text }] },
});

const atAgent = (agent: string): string => `/agents/${agent}`;
const version = (number: string): Record<string, string> => ({ "A2A-Version": number });

/** The methods of the dialects that call them as v0.3 does. */
const laterMethods = (
  path: (agent: string) => string,
  headers: Readonly<Record<string, string>>,
  streamHeaders = headers,
): Readonly<Record<Action, ToRequest>> => ({
  get: call(path, headers, "tasks/get", byId),
  subscribe: call(path, streamHeaders, "tasks/resubscribe", byId),
  cancel: call(path, headers, "tasks/cancel", byId),
  send: call(path, headers, "message/send", kindMessage),
});

const v1Rest =
  (
    verb: Request["verb"],
    tail: (taskId: string) => string,
    body?: (target: CurlTarget) => JsonObject,
  ): ToRequest =>
  target => ({
    verb,
    path: `/agents/${encodeURIComponent(target.agent)}/${tail(encodeURIComponent(target.taskId))}`,
    headers: { ...(body && JSON_TYPE), ...version("1.0") },
    ...(body && { body: body(target) }),
  });

interface CommandSet {
  readonly name: string;
  readonly binding: "JSON-RPC" | "HTTP+JSON";
  readonly actions: Readonly<Record<Action, ToRequest>>;
}

const JSON_ACCEPT = { Accept: "application/json" };
const STREAM_ACCEPT = { Accept: "text/event-stream" };

const COMMANDS: readonly CommandSet[] = [
  {
    name: "v1",
    binding: "HTTP+JSON",
    actions: {
      get: v1Rest("GET", id => `tasks/${id}`),
      subscribe: v1Rest("GET", id => `tasks/${id}:subscribe`),
      cancel: v1Rest(
        "POST",
        id => `tasks/${id}:cancel`,
        () => ({}),
      ),
      send: v1Rest("POST", () => "message:send", v1Message),
    },
  },
  {
    name: "v1",
    binding: "JSON-RPC",
    actions: {
      get: call(atAgent, version("1.0"), "GetTask", byId),
      subscribe: call(atAgent, version("1.0"), "SubscribeToTask", byId),
      cancel: call(atAgent, version("1.0"), "CancelTask", byId),
      send: call(atAgent, version("1.0"), "SendMessage", v1Message),
    },
  },
  { name: "v03", binding: "JSON-RPC", actions: laterMethods(atAgent, version("0.3")) },
  { name: "v02", binding: "JSON-RPC", actions: laterMethods(atAgent, version("0.2")) },
  {
    name: "v01",
    binding: "JSON-RPC",
    actions: {
      ...laterMethods(atAgent, version("0.1")),
      send: call(atAgent, version("0.1"), "tasks/send", v01Message),
    },
  },
  {
    name: "langgraph",
    binding: "JSON-RPC",
    actions: laterMethods(agent => `/a2a/${agent}`, JSON_ACCEPT, STREAM_ACCEPT),
  },
  {
    name: "orloj",
    binding: "JSON-RPC",
    actions: {
      ...laterMethods(agent => `/v1/agents/${agent}/a2a`, {}),
      send: call(agent => `/v1/agents/${agent}/a2a`, {}, "tasks/send", v01Message),
    },
  },
  { name: "arbiter", binding: "JSON-RPC", actions: laterMethods(agent => `/v1/a2a/agents/${agent}`, {}) },
  {
    name: "simple",
    binding: "JSON-RPC",
    actions: {
      get: call(atAgent, {}, "tasks/get", byTaskId),
      subscribe: call(atAgent, {}, "tasks/resubscribe", byTaskId),
      cancel: call(atAgent, {}, "tasks/cancel", byTaskId),
      send: call(atAgent, {}, "tasks/send", ({ text }) => ({
        message: { messageId: "m1", role: "user", parts: [{ kind: "text", text }] },
      })),
    },
  },
];

const ACTIONS: readonly Action[] = ["get", "subscribe", "cancel", "send"];

/** `titles`: of the dialects that are served. */
export const toCurlCommands = (
  target: CurlTarget,
  titles: Readonly<Record<string, string>>,
): readonly CurlCommand[] =>
  COMMANDS.filter(({ name }) => name in titles).flatMap(({ name, binding, actions }) =>
    ACTIONS.map(action => ({
      name,
      title: titles[name] as string,
      binding,
      action,
      command: toCommand(actions[action](target), action, target),
    })),
  );

function toCommand(request: Request, action: Action, { base, after, needsToken }: CurlTarget): string {
  const resume = action === "subscribe" && after !== undefined ? { "Last-Event-ID": String(after) } : {};
  const headers = Object.entries({ ...request.headers, ...resume });
  return [
    `curl ${action === "subscribe" ? "-N" : "-s"} ${quote(`${base}${request.path}`)}`,
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    // The shell replaces the variable.
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(request.body ? [`-d ${quote(JSON.stringify(request.body))}`] : []),
  ].join(" \\\n  ");
}

/** For a POSIX shell. */
const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
