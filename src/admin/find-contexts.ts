/** Pages of conversations, from scans of tasks: a conversation stands where its newest task does. */
import type { TaskId } from "../model/index.ts";
import type { ContextEnds, OwnedTask, OwnerFilter, TaskOverview } from "../ports/index.ts";
import type { ContextPage, ContextRow } from "./api.ts";
import { findTasks } from "./find-tasks.ts";
import { containsText, titleOf, toTaskRow } from "./task-row.ts";

export interface ContextQuery {
  readonly owners: OwnerFilter;
  readonly page: { readonly size: number; readonly after: TaskId | undefined };
  /** In lower case, in any task of a conversation. */
  readonly text: string | undefined;
}

/** A search finds a conversation at a task that contains the text: once in a page, perhaps again in a later one. */
export async function findContexts(overview: TaskOverview, query: ContextQuery): Promise<ContextPage> {
  const { text } = query;
  const known = new Map<string, ContextEnds>();
  const found = new Set<string>();

  const pick = async (tasks: readonly OwnedTask[]): Promise<readonly OwnedTask[]> => {
    const wanted = tasks.filter(one => text === undefined || containsText(one.task, text));
    await learnEnds(overview, wanted, known);
    return wanted.filter(one => {
      const key = keyOf(one);
      if (found.has(key) || (text === undefined && known.get(key)?.last !== one.task.id)) return false;
      found.add(key);
      return true;
    });
  };

  const scan = { owners: query.owners, withHidden: true, order: "newest" } as const;
  const { tasks, next } = await findTasks(overview, scan, query.page, pick);
  const ends = tasks.map(one => known.get(keyOf(one)));
  const byId = await readTasks(overview, tasks, ends);
  const contexts = tasks.map((one, i) =>
    toContextRow(byId.get(ends[i]?.last as TaskId) ?? one, byId.get(ends[i]?.first as TaskId) ?? one),
  );
  return { contexts, nextPageToken: next ?? "" };
}

const keyOf = ({ scope, task }: OwnedTask): string =>
  JSON.stringify([scope.tenant, scope.principal, task.agent, task.contextId]);

async function learnEnds(
  overview: TaskOverview,
  tasks: readonly OwnedTask[],
  known: Map<string, ContextEnds>,
): Promise<void> {
  const unknown = new Map(tasks.map(one => [keyOf(one), one]));
  for (const key of known.keys()) unknown.delete(key);
  const contexts = [...unknown.values()].map(({ scope, task }) => ({
    scope,
    agent: task.agent,
    contextId: task.contextId,
  }));
  if (contexts.length === 0) return;
  const ends = await overview.contextEnds(contexts);
  for (const [i, key] of [...unknown.keys()].entries()) {
    const one = ends[i];
    if (one) known.set(key, one);
  }
}

/** The first and last tasks of the contexts that have not been read yet, and those that have. */
async function readTasks(
  overview: TaskOverview,
  tasks: readonly OwnedTask[],
  ends: readonly (ContextEnds | undefined)[],
): Promise<ReadonlyMap<TaskId, OwnedTask>> {
  const byId = new Map(tasks.map(one => [one.task.id, one]));
  const ids = new Set(ends.flatMap(one => (one ? [one.first, one.last] : [])));
  for (let missing = [...ids].filter(id => !byId.has(id)); missing.length > 0; ) {
    const { tasks: more, used } = await overview.read(missing);
    for (const one of more) byId.set(one.task.id, one);
    missing = missing.slice(used);
  }
  return byId;
}

/** The title of a context is that of its first task. */
const toContextRow = (newest: OwnedTask, first: OwnedTask): ContextRow => ({
  contextId: newest.task.contextId,
  agent: newest.task.agent,
  tenant: newest.scope.tenant,
  principal: newest.scope.principal,
  title: titleOf(first.task),
  task: toTaskRow(newest),
});
