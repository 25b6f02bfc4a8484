import { FRONT_ENDS } from "./front-ends.ts";
import { toRequest } from "./grpc.ts";
import { type Binding, type FrontEnd, LIST_PAGE, type RpcWire, type Work } from "./order.ts";

/** The three calls of the bench in each dialect, and the texts in its responses. */
export interface Spelling {
  path: string;
  send: string;
  stream: string;
  get: string;
  headers: string;
  completed: string;
  working: string;
  toParams(key: string, text: string): object;
  /** The task in the result of `send`: the dialects wrap it differently. */
  toTask(result: Json): Json;
  /** The kind of an event of a stream, and its content. */
  toEvent(result: Json): { kind: "task" | "status" | "artifact"; value: Json };
}

export type Json = { readonly [key: string]: Json } & { readonly length?: number };

/**
 * A placeholder for the key in a prepared call. A key has the same length, so Content-Length is the same for
 * all.
 */
const KEY = "@".repeat(20);

const COUNTER_CHARS = 12;

const v1: Spelling = {
  path: "/",
  send: "SendMessage",
  stream: "SendStreamingMessage",
  get: "GetTask",
  headers: "A2A-Version: 1.0\r\n",
  completed: '"state":"TASK_STATE_COMPLETED"',
  working: '"state":"TASK_STATE_WORKING"',
  toParams: (messageId, text) => ({ message: { messageId, role: "ROLE_USER", parts: [{ text }] } }),
  toTask: result => member(result, "task"),
  toEvent: toEventV1,
};

const v03: Spelling = {
  path: "/",
  send: "message/send",
  stream: "message/stream",
  get: "tasks/get",
  headers: "",
  completed: '"state":"completed"',
  working: '"state":"working"',
  toParams: (messageId, text) => {
    return { message: { kind: "message", messageId, role: "user", parts: [{ kind: "text", text }] } };
  },
  toTask: result => result,
  toEvent: toEventV03,
};

const v01: Spelling = {
  ...v03,
  send: "tasks/send",
  stream: "tasks/sendSubscribe",
  toParams: (id, text) => ({ id, message: { role: "user", parts: [{ type: "text", text }] } }),
};

/** Its text is in the message of the status. */
const toArbiterTask = (task: Json): Json =>
  ({ artifacts: [member(member(task, "status"), "message")] }) as unknown as Json;

export const SPELLINGS: Record<RpcWire, Spelling> = {
  v1,
  v11: { ...v1, headers: "A2A-Version: 1.1\r\n" },
  v03,
  v02: { ...v03, headers: "A2A-Version: 0.2\r\n" },
  v01,
  langgraph: { ...v03, path: "/a2a/bench" },
  orloj: { ...v01, path: "/v1/agent-systems/bench/a2a" },
  arbiter: { ...v03, path: "/v1/a2a/agents/bench", toTask: toArbiterTask },
  simple: { ...v03, send: "tasks/send", stream: "tasks/sendSubscribe" },
  mcp: {
    ...v1,
    path: "/mcp",
    send: "tools/call",
    headers: "",
    completed: '"state":"completed"',
    toParams: (_key, message) => ({ name: "bench", arguments: { message } }),
    toTask: result => ({ artifacts: [{ parts: member(result, "content") }] }) as unknown as Json,
  },
};

function toEventV1(result: Json): ReturnType<Spelling["toEvent"]> {
  if (result.task) return { kind: "task", value: result.task };
  if (result.artifactUpdate) return { kind: "artifact", value: result.artifactUpdate };
  return { kind: "status", value: member(result, "statusUpdate") };
}

function toEventV03(result: Json): ReturnType<Spelling["toEvent"]> {
  const kind = String(result.kind);
  if (kind === "task") return { kind: "task", value: result };
  return { kind: kind === "artifact-update" ? "artifact" : "status", value: result };
}

/** Writes a call for any key, at the price of one join. */
export type CallWriter = (key: string) => string;

export function createMessageWriter(
  wire: RpcWire,
  kind: "send" | "stream",
  text: string,
  port: number,
): CallWriter {
  return createCallWriter(wire, SPELLINGS[wire][kind], SPELLINGS[wire].toParams(KEY, text), port);
}

export function createGetWriter(wire: RpcWire, taskId: string, port: number): CallWriter {
  return createCallWriter(wire, SPELLINGS[wire].get, { id: taskId }, port);
}

/** The calls below are those of v1. */
export function createListWriter(port: number): CallWriter {
  return createCallWriter("v1", "ListTasks", { pageSize: LIST_PAGE }, port);
}

export function createResumeWriter(taskId: string, port: number): CallWriter {
  return createCallWriter("v1", "SubscribeToTask", { id: taskId }, port, "Last-Event-ID: 1\r\n");
}

export function createPushWriter(text: string, url: string, port: number): CallWriter {
  const params = { ...v1.toParams(KEY, text), configuration: { taskPushNotificationConfig: { url } } };
  return createCallWriter("v1", v1.send, params, port);
}

function createCallWriter(
  wire: RpcWire,
  method: string,
  params: object,
  port: number,
  headers = "",
): CallWriter {
  const body = JSON.stringify({ jsonrpc: "2.0", id: KEY, method, params });
  return toWriter(toPost(SPELLINGS[wire].path, SPELLINGS[wire].headers + headers, port, body));
}

export function createFrontEndWriter(wire: FrontEnd, work: Work, text: string, port: number): CallWriter {
  const { path, toBody } = FRONT_ENDS[wire];
  return toWriter(toPost(path, "", port, JSON.stringify(toBody(KEY, text, work.kind === "stream"))));
}

/** A send of v1 without an envelope. */
export function createBareWriter(over: Binding, text: string, port: number): CallWriter {
  const params = SPELLINGS.v1.toParams(KEY, text);
  if (over === "grpc") return toWriter(toRequest(params));
  return toWriter(toPost("/agents/bench/message:send", v1.headers, port, JSON.stringify(params)));
}

function toPost(path: string, headers: string, port: number, body: string): string {
  return (
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
    `Accept: application/json, text/event-stream\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`
  );
}

function toWriter(call: string): CallWriter {
  const pieces = call.split(KEY);
  return key => pieces.join(key);
}

/** Keys are new in every run: a server may treat a repeated message id as a repeated message. */
export function createKeys(): () => string {
  const prefix = Math.floor(Math.random() * 0xffffffff)
    .toString(16)
    .padStart(KEY.length - COUNTER_CHARS, "0");
  let count = 0;
  return () => prefix + String(count++).padStart(COUNTER_CHARS, "0");
}

export function member(value: Json, name: string): Json {
  const found = value[name];
  if (found === undefined) throw new Error(`no "${name}" in ${JSON.stringify(value).slice(0, 200)}`);
  return found;
}
