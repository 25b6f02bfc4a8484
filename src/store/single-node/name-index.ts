import { type AgentName, Fault, type Scope, type Task, type TaskId } from "../../model/index.ts";
import type { CallerName, NamedTask } from "../../ports/index.ts";
import type { NewName } from "../kernel/caller-names.ts";
import type { Backend } from "./backend.ts";

const KNOWN_FREE_MAX = 1_000;

/** Names that callers gave. The backend has the committed ones; names of the next commit are here. */
export function createNameIndex(backend: Backend) {
  const pending = new Set<string>();
  /** Not found by a recent lookup: the same caller is about to use the name, and the second lookup is saved. */
  const knownFree = new Set<string>();
  const toKey = (scope: Scope, agent: AgentName, { kind, name }: CallerName): string =>
    JSON.stringify([scope.tenant, scope.principal, agent, kind, name]);

  return {
    find(scope: Scope, agent: AgentName, name: CallerName): NamedTask | null {
      const found = backend.findByName(scope, agent, name);
      if (knownFree.size >= KNOWN_FREE_MAX) knownFree.clear();
      if (!found) knownFree.add(toKey(scope, agent, name));
      return found;
    },
    /** Throws if a name is used already, committed or not. */
    check(scope: Scope, agent: AgentName, taskId: TaskId, names: readonly NewName[]): void {
      for (const name of names) {
        const key = toKey(scope, agent, name);
        if (pending.has(key) || (!knownFree.has(key) && backend.findByName(scope, agent, name)))
          throw new Fault("conflict", "The name is already in use", { taskId });
      }
    },
    /** Reserves names until the commit is done, or failed. */
    reserve(scope: Scope, task: Task, names: readonly NewName[], done: Promise<void>): void {
      const keys = names.map(name => toKey(scope, task.agent, name));
      for (const key of keys) pending.add(key);
      const release = (): void => {
        for (const key of keys) {
          pending.delete(key);
          knownFree.delete(key);
        }
      };
      done.then(release, release);
    },
  };
}
