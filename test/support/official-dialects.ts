/** The two official dialects for tests: one statement can be tested in both. */
import { openStream, type RpcReply, rpc, sendParams, sendParamsV03, until } from "./client.ts";

/** Any result: the test asserts its form. */
export type Loose = RpcReply["body"];

/** One event of a stream, in either dialect. */
export interface StreamItem {
  readonly kind: "task" | "message" | "status" | "artifact" | "error";
  readonly value: Loose;
  /** In neutral spelling: `input-required`. */
  readonly state: string | undefined;
}

export interface TestDialect {
  readonly name: "v1" | "v0.3";
  readonly version: "1.0" | "0.3";
  readonly send: string;
  readonly stream: string;
  readonly get: string;
  readonly list: string;
  readonly cancel: string;
  readonly subscribe: string;
  readonly push: readonly string[];
  readonly extendedCard: string;
  readonly userRole: string;
  /** A configuration for a non-blocking send. */
  readonly nonBlocking: object;
  sendParams(text: string, message?: object, more?: object): Loose;
  textPart(text: string): object;
  /** The task in the result of a send; undefined: it is a message. */
  taskIn(result: Loose): Loose;
  messageIn(result: Loose): Loose;
  /** In neutral spelling: `input-required`. */
  stateOf(task: Loose): string;
  toItem(data: Loose): StreamItem;
}

const lower = (state: string): string => state.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-");

const v1: TestDialect = {
  name: "v1",
  version: "1.0",
  send: "SendMessage",
  stream: "SendStreamingMessage",
  get: "GetTask",
  list: "ListTasks",
  cancel: "CancelTask",
  subscribe: "SubscribeToTask",
  push: [
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
  ],
  extendedCard: "GetExtendedAgentCard",
  userRole: "ROLE_USER",
  nonBlocking: { returnImmediately: true },
  sendParams: (text, message = {}, more = {}) => ({ ...sendParams(text, message), ...more }),
  textPart: text => ({ text }),
  taskIn: result => result.task,
  messageIn: result => result.message,
  stateOf: task => lower(task.status.state),
  toItem(data) {
    if (data.error) return { kind: "error", value: data.error, state: undefined };
    const { task, message, statusUpdate, artifactUpdate } = data.result;
    if (task) return { kind: "task", value: task, state: lower(task.status.state) };
    if (message) return { kind: "message", value: message, state: undefined };
    if (artifactUpdate) return { kind: "artifact", value: artifactUpdate, state: undefined };
    return { kind: "status", value: statusUpdate, state: lower(statusUpdate.status.state) };
  },
};

const v03: TestDialect = {
  name: "v0.3",
  version: "0.3",
  send: "message/send",
  stream: "message/stream",
  get: "tasks/get",
  list: "tasks/list",
  cancel: "tasks/cancel",
  subscribe: "tasks/resubscribe",
  push: ["set", "get", "list", "delete"].map(verb => `tasks/pushNotificationConfig/${verb}`),
  extendedCard: "agent/getAuthenticatedExtendedCard",
  userRole: "user",
  nonBlocking: { blocking: false },
  sendParams: (text, message = {}, more = {}) => ({ ...sendParamsV03(text, message), ...more }),
  textPart: text => ({ kind: "text", text }),
  taskIn: result => (result.kind === "task" ? result : undefined),
  messageIn: result => (result.kind === "message" ? result : undefined),
  stateOf: task => task.status.state,
  toItem(data) {
    if (data.error) return { kind: "error", value: data.error, state: undefined };
    const value = data.result;
    if (value.kind === "task") return { kind: "task", value, state: value.status.state };
    if (value.kind === "message") return { kind: "message", value, state: undefined };
    if (value.kind === "artifact-update") return { kind: "artifact", value, state: undefined };
    return { kind: "status", value, state: value.status.state };
  },
};

export const V1 = v1;
export const V03 = v03;
export const OFFICIAL_DIALECTS: readonly TestDialect[] = [v1, v03];

type Extra = Record<string, string>;

/** The result of a call that must succeed. */
export async function rpcResult(
  url: string,
  method: string,
  params: unknown,
  headers: Extra = {},
): Promise<Loose> {
  const { body } = await rpc(url, method, params, headers);
  if (!body || !("result" in body)) throw new Error(`${method} was refused: ${JSON.stringify(body)}`);
  return body.result;
}

/** The error of a call that must be refused; an error inside a stream is taken out of it. */
export async function rpcError(
  url: string,
  method: string,
  params: unknown,
  headers: Extra = {},
): Promise<Loose> {
  const data = method === V03.subscribe ? await onlyFrame(url, method, params, headers) : null;
  const body = data ?? (await rpc(url, method, params, headers)).body;
  if (!body?.error) throw new Error(`${method} was not refused: ${JSON.stringify(body)}`);
  return body.error;
}

async function onlyFrame(url: string, method: string, params: unknown, headers: Extra): Promise<Loose> {
  const events = await (await openStream(url, method, params, headers)).all();
  if (events.length !== 1) throw new Error(`one frame was expected, not ${events.length}`);
  return events[0]?.data;
}

/** Sends without blocking and returns the task. */
export async function startTask(
  url: string,
  dialect: TestDialect,
  text: string,
  message: object = {},
): Promise<Loose> {
  const params = dialect.sendParams(text, message, { configuration: dialect.nonBlocking });
  return dialect.taskIn(await rpcResult(url, dialect.send, params));
}

export const getTask = (url: string, id: string, dialect: TestDialect = v1): Promise<Loose> =>
  rpcResult(url, dialect.get, { id });

/** Waits until the task is in this state (in neutral spelling), and returns the task. */
export async function untilState(url: string, id: string, state: string): Promise<Loose> {
  let task: Loose;
  await until(async () => v1.stateOf((task = await getTask(url, id))) === state);
  return task;
}

/** The fields that an error of v1 names. */
export function fieldsOf(error: Loose): string[] {
  const details = (error.data ?? []) as Loose[];
  return details.flatMap(one => (one.fieldViolations ?? []).map((violation: Loose) => violation.field));
}
