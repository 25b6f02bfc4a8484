/** Commands that read, follow, cancel or repeat a task, in each dialect. */
import { isObject, type JsonObject } from "../lib/json.ts";
import type { Part } from "../model/index.ts";
import { encodeV1Part } from "../protocol/shared/v1-parts.ts";
import { encodeV01Parts } from "../protocol/shared/v01-encode.ts";
import { encodeV03Part } from "../protocol/shared/v03-encode.ts";
import type { CurlCommand } from "./api.ts";

export interface CurlTarget {
  /** The base URL of the server, without a slash at its end. */
  readonly base: string;
  readonly agent: string;
  readonly taskId: string;
  /** Of the first message. */
  readonly parts: readonly Part[];
  /** For the task that `send` begins, in dialects whose callers choose the id. */
  readonly newTaskId: string;
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
const kindMessage = ({ parts }: CurlTarget): JsonObject => ({
  message: { kind: "message", messageId: "m1", role: "user", parts: parts.map(encodeV03Part) },
});
/** Arbiter has only text. */
const textMessage = ({ parts }: CurlTarget): JsonObject => {
  const texts = parts.flatMap(part =>
    part.kind === "text" ? [part.text] : part.kind === "data" ? [JSON.stringify(part.data)] : [],
  );
  return {
    message: {
      kind: "message",
      messageId: "m1",
      role: "user",
      parts: texts.map(text => ({ kind: "text", text })),
    },
  };
};
const v1Message = ({ parts }: CurlTarget): JsonObject => ({
  message: { messageId: "m1", role: "ROLE_USER", parts: parts.map(encodeV1Part) },
});
/** `kind`: tasks of the two dialects that choose ids are not the same. */
const v01Message =
  (kind: string) =>
  ({ parts, newTaskId }: CurlTarget): JsonObject => ({
    id: `${kind}-${newTaskId}`,
    message: { role: "user", parts: encodeV01Parts(parts, isObject) },
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
      send: call(atAgent, version("0.1"), "tasks/send", v01Message("v01")),
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
      send: call(agent => `/v1/agents/${agent}/a2a`, {}, "tasks/send", v01Message("orloj")),
    },
  },
  {
    name: "arbiter",
    binding: "JSON-RPC",
    actions: {
      ...laterMethods(agent => `/v1/a2a/agents/${agent}`, {}),
      send: call(agent => `/v1/a2a/agents/${agent}`, {}, "message/send", textMessage),
    },
  },
  {
    name: "simple",
    binding: "JSON-RPC",
    actions: {
      get: call(atAgent, {}, "tasks/get", byTaskId),
      subscribe: call(atAgent, {}, "tasks/resubscribe", byTaskId),
      cancel: call(atAgent, {}, "tasks/cancel", byTaskId),
      send: call(atAgent, {}, "tasks/send", ({ parts }) => ({
        message: { messageId: "m1", role: "user", parts: parts.map(encodeV03Part) },
      })),
    },
  },
];

/** The other dialects are front ends: they have streams, but no task that could be read. */
export const hasTasks = ({ name }: { readonly name: string }): boolean =>
  COMMANDS.some(set => set.name === name);

/** A shell takes at most 128 kB in one argument: larger files are left out. */
const FILE_CHARS_MAX = 64_000;
export const fitsInCommand = (part: Part): boolean =>
  part.kind !== "bytes" || part.bytes.length <= FILE_CHARS_MAX;

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
