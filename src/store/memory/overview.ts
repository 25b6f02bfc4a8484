import { isHidden, type Scope, type Task, type TaskId } from "../../model/index.ts";
import { matchesOwner, type OwnerFilter, type TaskCount, type TaskScan } from "../../ports/index.ts";
import type { OverviewBackend } from "../single-node/backend.ts";

interface OwnedTask {
  readonly scope: Scope;
  readonly task: Task;
}

/** `all`: the tasks in the order of their creation. */
export function createMemoryOverview(all: () => Iterable<OwnedTask>): OverviewBackend {
  return {
    scan(query) {
      const { max, order, after } = query;
      const inOrder = order === "oldest" ? [...all()] : [...all()].reverse();
      const isAfter = ({ id }: Task): boolean =>
        after === undefined || (order === "oldest" ? id > after : id < after);
      const found = inOrder.filter(one => isAfter(one.task) && matches(one, query));
      const tasks = found.slice(0, max).map(({ scope, task }) => ({
        taskId: task.id,
        scope,
        agent: task.agent,
        contextId: task.contextId,
      }));
      return { tasks, next: found.length > max ? tasks.at(-1)?.taskId : undefined };
    },
    scanWaiting({ owners, states, after, max }) {
      const found = [...all()]
        .filter(({ scope, task }) => matchesOwner(owners, scope, task.agent))
        .map(({ task }) => ({ taskId: task.id, at: task.status.at, state: task.status.state }))
        .filter(one => (states as ReadonlySet<string>).has(one.state))
        .sort(comparePlaces)
        .filter(one => !after || comparePlaces(one, after) > 0);
      const page = found.slice(0, max);
      const last = page.at(-1);
      const next = found.length > max && last ? { at: last.at, taskId: last.taskId } : undefined;
      return { taskIds: page.map(one => one.taskId), next };
    },
    contextEnds({ scope, agent, contextId }) {
      const found = [...all()].filter(
        one =>
          matchesOwner(scope, one.scope, agent) &&
          one.task.agent === agent &&
          one.task.contextId === contextId,
      );
      const [first, last] = [found[0], found.at(-1)];
      return first && last ? { first: first.task.id, last: last.task.id } : undefined;
    },
    count: owners => countTasks(all(), owners),
    countWaiting: owners => countTasks(all(), owners).filter(one => WAITING.has(one.state)),
  };
}

const WAITING: ReadonlySet<string> = new Set(["input-required", "auth-required"]);

function countTasks(all: Iterable<OwnedTask>, owners: OwnerFilter): readonly TaskCount[] {
  const counts = new Map<string, TaskCount>();
  for (const { scope, task } of all) {
    if (!matchesOwner(owners, scope, task.agent)) continue;
    const { state } = task.status;
    const key = `${state} ${task.agent}`;
    counts.set(key, { agent: task.agent, state, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}

interface Place {
  readonly at: number;
  readonly taskId: TaskId;
}
const comparePlaces = (a: Place, b: Place): number =>
  a.at - b.at || Number(a.taskId > b.taskId) - Number(a.taskId < b.taskId);

function matches({ scope, task }: OwnedTask, query: TaskScan): boolean {
  const { owners, states, contextId, withHidden, from, to } = query;
  return (
    matchesOwner(owners, scope, task.agent) &&
    (!states || states.has(task.status.state)) &&
    (contextId === undefined || contextId === task.contextId) &&
    (withHidden || !isHidden(task)) &&
    (from === undefined || task.createdAt >= from) &&
    (to === undefined || task.createdAt < to)
  );
}
