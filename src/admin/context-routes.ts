import { type ContextId, type TaskId, textOf, timeKey } from "../model/index.ts";
import type { OwnedTask, Store, WaitingPosition } from "../ports/index.ts";
import { encodeMessage, encodeTask } from "../protocol/a2a-v1/encode.ts";
import type { AdminRoute } from "./access.ts";
import type { ContextDetail, ContextPage, ContextRow, ContextTask, InboxPage, InboxRow } from "./api.ts";
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
import { titleOf, toTaskRow } from "./task-row.ts";

const TEXT_CHARS_MAX = 200;

/** Conversations, and the tasks that wait for a person. */
export function createContextRoutes({ store }: { readonly store: Store }): readonly AdminRoute[] {
  const { overview } = store;

  /** The title of a context is that of its first task. */
  function toContextRow(newest: OwnedTask, titles: ReadonlyMap<TaskId, string>): ContextRow {
    const { scope, task } = newest;
    return {
      contextId: task.contextId,
      agent: task.agent,
      tenant: scope.tenant,
      principal: scope.principal,
      title: titles.get(task.id) ?? titleOf(task),
      task: toTaskRow(newest),
    };
  }

  return [
    {
      verb: "GET",
      path: "/contexts",
      needs: "read",
      summary: "Conversations, the newest first",
      async serve({ query }, caller) {
        const text = readText(query, "text", TEXT_CHARS_MAX)?.toLowerCase();
        const titles = new Map<TaskId, string>();
        const scan = { owners: readOwners(query, caller), withHidden: true, order: "newest" } as const;
        const page = { size: readPageSize(query), after: readTaskToken(query) };
        const { tasks, next } = await findTasks(overview, scan, page, async one => {
          const { scope, task } = one;
          const ends = await overview.contextEnds({ scope, agent: task.agent, contextId: task.contextId });
          if (ends?.last !== task.id) return false;
          const [first] = ends.first === task.id ? [one] : (await overview.read([ends.first])).tasks;
          const title = titleOf((first ?? one).task);
          titles.set(task.id, title);
          return (
            text === undefined ||
            `${title}\n${newestText(one)}\n${task.contextId}`.toLowerCase().includes(text)
          );
        });
        const contexts = tasks.map(one => toContextRow(one, titles));
        const result: ContextPage = { contexts, nextPageToken: next ?? "" };
        return reply(result);
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
        const counts = await overview.count(owners);
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

const newestText = ({ task }: OwnedTask): string =>
  textOf((task.reply ?? task.status.message ?? task.artifacts.at(-1))?.parts ?? []);

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
