import { Fault, LIMITS, type PushConfig, type Scope, sizeOf, type TaskId } from "../model/index.ts";
import type { Answer } from "../ports/index.ts";
import { agentAsked, type CoreParts, findAgent, findTask, type OperationOf } from "./lookup.ts";
import { checkPush, redacted, requirePush, toConfig, toDelivery } from "./push-config.ts";

type PushOperation = OperationOf<"push-set" | "push-get" | "push-list" | "push-delete">;
type PushOfTask = PushOperation & { readonly taskId: TaskId };

/** Where updates of a task are delivered to: setting it, looking at it, taking it away. */
export async function push(parts: CoreParts, operation: PushOperation, scope: Scope): Promise<Answer> {
  if (isOfTask(operation)) return pushOfTask(parts, operation, scope);
  return listAll(parts, operation, scope);
}

const isOfTask = (operation: PushOperation): operation is PushOfTask => operation.taskId !== undefined;

async function pushOfTask(parts: CoreParts, operation: PushOfTask, scope: Scope): Promise<Answer> {
  const agent = await agentAsked(parts, operation, scope);
  requirePush(agent);
  const { task } = await findTask(parts, agent, scope, operation.taskId);
  const known = await parts.store.pushes.list(scope, task.id);
  switch (operation.op) {
    case "push-set":
      return set(parts, operation, scope, task.id, known);
    case "push-get":
      return get(operation, known);
    case "push-list":
      return list(operation.taskId, operation, known);
    case "push-delete":
      return remove(parts, operation, scope, task.id, known);
  }
}

async function set(
  parts: CoreParts,
  operation: OperationOf<"push-set">,
  scope: Scope,
  taskId: TaskId,
  known: readonly PushConfig[],
): Promise<Answer> {
  checkPush(parts, operation.config, operation.field);
  const config = toConfig(parts, operation.config, taskId, known);
  await parts.store.pushes.set(scope, taskId, toDelivery(parts, config));
  return { kind: "push", taskId: operation.taskId, config: redacted(config) };
}

function get({ taskId, id, none }: OperationOf<"push-get">, known: readonly PushConfig[]): Answer {
  const config = known.find(one => id === undefined || one.id === id);
  if (config) return { kind: "push", taskId, config: redacted(config) };
  if (none === "nothing") return { kind: "nothing" };
  throw new Fault(
    "task-not-found",
    id === undefined ? "The task has no push config" : "The task has no push config with this id",
    { taskId },
  );
}

function list(
  taskId: TaskId,
  { pageSize, pageToken }: OperationOf<"push-list">,
  known: readonly PushConfig[],
): Answer {
  const start = pageToken === undefined ? 0 : known.findIndex(one => toToken(one) === pageToken) + 1;
  if (pageToken !== undefined && start === 0)
    throw new Fault("invalid-params", "pageToken must be a nextPageToken of an earlier page", {
      field: "pageToken",
    });
  const page = known.slice(start, start + (pageSize ?? known.length));
  const last = page.at(-1);
  const nextPageToken = last && start + page.length < known.length ? toToken(last) : "";
  return { kind: "pushes", configs: toPushes(taskId, page), nextPageToken };
}

const toPushes = (taskId: TaskId, configs: readonly PushConfig[]) =>
  configs.map(config => ({ taskId, config: redacted(config) }));

/** What the newest tasks have: a dialect has a list of all configs, without pages. */
async function listAll(parts: CoreParts, operation: OperationOf<"push-list">, scope: Scope): Promise<Answer> {
  const agent = findAgent(parts, operation, scope);
  requirePush(agent);
  const ids = await parts.store.tasks.newest(scope, agent.name, LIMITS.pageSizeMax);
  const lists = ids.map(async id => toPushes(id, await parts.store.pushes.list(scope, id)));
  const configs = (await Promise.all(lists)).flat();
  let size = 0;
  const end = configs.findIndex((one, i) => (size += sizeOf(one)) > LIMITS.pageBytesMax && i > 0);
  return { kind: "pushes", configs: end === -1 ? configs : configs.slice(0, end), nextPageToken: "" };
}

/** The one after which the next page begins. */
const toToken = ({ id }: PushConfig): string => Buffer.from(id).toString("base64url");

async function remove(
  parts: CoreParts,
  operation: OperationOf<"push-delete">,
  scope: Scope,
  taskId: TaskId,
  known: readonly PushConfig[],
): Promise<Answer> {
  const id = operation.id ?? known[0]?.id;
  if (id !== undefined) await parts.store.pushes.remove(scope, taskId, id);
  return { kind: "nothing" };
}
