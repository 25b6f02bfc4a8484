import { Fault, LIMITS, type PushConfig, type Scope, sizeOf, type TaskId } from "../model/index.ts";
import type { OperationResult } from "../ports/index.ts";
import { findAgent, findAgentOf, findTask, type OperationOf, type OperationParts } from "./lookup.ts";
import { checkPush, redacted, requirePush, toConfig, toSubscription } from "./push-config.ts";

type PushOperation = OperationOf<"push-set" | "push-get" | "push-list" | "push-delete">;
type TaskPushOperation = PushOperation & { readonly taskId: TaskId };

/** Sets, reads, lists and deletes the push configs of a task. */
export async function push(
  parts: OperationParts,
  operation: PushOperation,
  scope: Scope,
): Promise<OperationResult> {
  if (!hasTask(operation)) return listAll(parts, operation, scope);
  const agent = await findAgentOf(parts, operation, scope);
  requirePush(agent);
  const { task } = await findTask(parts, agent, scope, operation.taskId);
  const known = await parts.store.pushes.list(scope, task.id);
  switch (operation.op) {
    case "push-set": {
      checkPush(parts, operation.config, operation.field, operation.names);
      const config = toConfig(parts, operation.config, task.id, known);
      await parts.store.pushes.set(scope, task.id, toSubscription(parts, config));
      return { kind: "push", taskId: operation.taskId, config: redacted(config) };
    }
    case "push-get":
      return get(operation, known);
    case "push-list":
      return list(operation.taskId, operation, known);
    case "push-delete": {
      const id = operation.id ?? known[0]?.id;
      if (id !== undefined) await parts.store.pushes.remove(scope, task.id, id);
      return { kind: "nothing" };
    }
  }
}

const hasTask = (operation: PushOperation): operation is TaskPushOperation => operation.taskId !== undefined;

function get({ taskId, id, none }: OperationOf<"push-get">, known: readonly PushConfig[]): OperationResult {
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
): OperationResult {
  const start = pageToken === undefined ? 0 : known.findIndex(one => toPageToken(one) === pageToken) + 1;
  if (pageToken !== undefined && start === 0)
    throw new Fault("invalid-params", "pageToken must be a nextPageToken of an earlier page", {
      field: "pageToken",
    });
  const page = known.slice(start, start + (pageSize ?? known.length));
  const last = page.at(-1);
  const nextPageToken = last && start + page.length < known.length ? toPageToken(last) : "";
  return { kind: "pushes", configs: toEntries(taskId, page), nextPageToken };
}

/** The next page begins after this config. */
const toPageToken = ({ id }: PushConfig): string => Buffer.from(id).toString("base64url");

const toEntries = (taskId: TaskId, configs: readonly PushConfig[]) =>
  configs.map(config => ({ taskId, config: redacted(config) }));

/** The configs of the newest tasks: one dialect lists all configs, without pages. */
async function listAll(
  parts: OperationParts,
  operation: OperationOf<"push-list">,
  scope: Scope,
): Promise<OperationResult> {
  const agent = findAgent(parts, operation, scope);
  requirePush(agent);
  const ids = await parts.store.tasks.newest(scope, agent.name, { max: LIMITS.pageSizeMax });
  const lists = ids.map(async id => toEntries(id, await parts.store.pushes.list(scope, id)));
  const configs = (await Promise.all(lists)).flat();
  let size = 0;
  const end = configs.findIndex((one, i) => (size += sizeOf(one)) > LIMITS.pageBytesMax && i > 0);
  return { kind: "pushes", configs: end === -1 ? configs : configs.slice(0, end), nextPageToken: "" };
}
