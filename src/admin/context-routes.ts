import { type ContextId, type TaskId, timeKey } from "../model/index.ts";
import type { OwnedTask, Store, WaitingPosition } from "../ports/index.ts";
import { encodeMessage, encodeTask } from "../protocol/a2a-v1/encode.ts";
import type { AdminRoute } from "./access.ts";
import type { ContextDetail, ContextTask, InboxPage, InboxRow } from "./api.ts";
import { findContexts } from "./find-contexts.ts";
import { findTasks } from "./find-tasks.ts";
import {
  invalid,
  invalidToken,
  readChoice,
  readOwners,
  readPageSize,
  readTaskToken,
  readText,
  reply,
} from "./parameters.ts";
import { toTaskRow } from "./task-row.ts";

const TEXT_CHARS_MAX = 200;

/** Conversations, and the tasks that wait for a person. */
export function createContextRoutes({ store }: { readonly store: Store }): readonly AdminRoute[] {
  const { overview } = store;

  return [
    {
      verb: "GET",
      path: "/contexts",
      needs: "read",
      summary: "Conversations, the newest first",
      async serve({ query }, caller) {
        const text = readText(query, "text", TEXT_CHARS_MAX)?.toLowerCase();
        const page = { size: readPageSize(query), after: readTaskToken(query) };
        return reply(await findContexts(overview, { owners: readOwners(query, caller), page, text }));
      },
    },
    {
      verb: "GET",
      path: "/contexts/{contextId}",
      needs: "read",
      summary: "The tasks of a conversation with their messages, the oldest first",
      async serve({ query, vars }, caller) {
        const agent = query.get("agent");
        if (!agent) throw invalid("agent", "is required: the name of an agent");
        const contextId = (vars.contextId ?? "") as ContextId;
        const scan = {
          owners: readOwners(query, caller),
          contextId,
          withHidden: true,
          order: "oldest",
        } as const;
        const page = { size: readPageSize(query), after: readTaskToken(query) };
        const { tasks, next } = await findTasks(overview, scan, page, undefined);
        const result: ContextDetail = {
          contextId,
          tasks: tasks.map(toContextTask),
          nextPageToken: next ?? "",
        };
        return reply(result);
      },
    },
    {
      verb: "GET",
      path: "/inbox",
      needs: "read",
      summary: "Tasks that wait for a person, the longest waiting first",
      async serve({ query }, caller) {
        const kind = readChoice(query, "kind", ["input", "authorization"]);
        const states = new Set([
          ...(kind === "authorization" ? [] : ["input-required" as const]),
          ...(kind === "input" ? [] : ["auth-required" as const]),
        ]);
        const owners = readOwners(query, caller);
        const after = readPosition(query);
        const max = readPageSize(query);
        const found = await overview.scanWaiting({ owners, states, max, ...(after && { after }) });
        const { tasks } = await overview.read(found.taskIds);
        const counts = await overview.countWaiting(owners);
        const result: InboxPage = {
          tasks: tasks
            .filter(one => (states as ReadonlySet<string>).has(one.task.status.state))
            .map(toInboxRow),
          nextPageToken: found.next ? `${found.next.at}.${found.next.taskId}` : "",
          total: counts
            .filter(one => (states as ReadonlySet<string>).has(one.state))
            .reduce((sum, one) => sum + one.count, 0),
        };
        return reply(result);
      },
    },
  ];
}

function readPosition(query: URLSearchParams): WaitingPosition | undefined {
  const token = query.get("pageToken");
  if (!token) return undefined;
  const [, at, taskId] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(token) ?? [];
  if (at === undefined || taskId === undefined || timeKey(taskId) === null) throw invalidToken();
  return { at: Number(at), taskId: taskId as TaskId };
}

const toContextTask = (owned: OwnedTask): ContextTask => ({
  row: toTaskRow(owned),
  task: encodeTask(owned.task),
  reply: owned.task.reply ? encodeMessage(owned.task.reply) : null,
});

function toInboxRow(owned: OwnedTask): InboxRow {
  const { message, asks, auth, again } = owned.task.status;
  return {
    task: toTaskRow(owned),
    message: message ? encodeMessage(message) : null,
    asks: asks ?? [],
    authorization: auth ? { name: auth.name, scheme: auth.scheme } : null,
    asksToRepeat: again === true,
  };
}
