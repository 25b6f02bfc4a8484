import {
  type AgentName,
  Fault,
  type Scope,
  type Seq,
  type Task,
  type TaskEvent,
  type TaskId,
} from "../../model/index.ts";
import type { CallerName, NamedTask } from "../../ports/index.ts";
import type { Journal, NewName } from "./backend.ts";
import { NO_NAMES } from "./entry.ts";

/** The names that these events bring, the first of them being number `first`. */
export function namesIn(events: readonly TaskEvent[], first: number): readonly NewName[] {
  let names: NewName[] | undefined;
  for (let i = 0; i < events.length; i++) {
    const event = events[i] as TaskEvent;
    const seq = (first + i) as Seq;
    switch (event.type) {
      case "created":
        if (event.alias !== undefined) (names ??= []).push({ kind: "alias", name: event.alias, seq });
        break;
      case "message":
      case "answered":
      case "incoming":
        if (event.key) (names ??= []).push({ kind: "key", ...event.key, seq });
        if (event.once !== undefined)
          (names ??= []).push({ kind: "message", name: event.message.messageId, digest: event.once, seq });
    }
  }
  return names ?? NO_NAMES;
}

const MISSED_MAX = 1_000;

/** Names that callers gave. The journal has those that are committed; here are those that are on their way there. */
export function createNames(journal: Journal) {
  const coming = new Set<string>();
  /** Looked for and not found: whoever looks for a name is about to give it, and need not look a second time. */
  const missed = new Set<string>();
  const keyOf = (scope: Scope, agent: AgentName, { kind, name }: CallerName): string =>
    JSON.stringify([scope.tenant, scope.principal, agent, kind, name]);

  return {
    find(scope: Scope, agent: AgentName, name: CallerName): NamedTask | null {
      const found = journal.named(scope, agent, name);
      if (missed.size >= MISSED_MAX) missed.clear();
      if (!found) missed.add(keyOf(scope, agent, name));
      return found;
    },
    /** Refuses names that are taken, committed or not. */
    check(scope: Scope, agent: AgentName, taskId: TaskId, names: readonly NewName[]): void {
      for (const name of names) {
        const key = keyOf(scope, agent, name);
        if (coming.has(key) || (!missed.has(key) && journal.named(scope, agent, name)))
          throw new Fault("conflict", "The name is taken", { taskId });
      }
    },
    /** Holds names until they are committed, or are not. */
    hold(scope: Scope, task: Task, names: readonly NewName[], done: Promise<void>): void {
      const keys = names.map(name => keyOf(scope, task.agent, name));
      for (const key of keys) coming.add(key);
      const free = (): void => {
        for (const key of keys) {
          coming.delete(key);
          missed.delete(key);
        }
      };
      done.then(free, free);
    },
  };
}
