import { expect, it } from "vitest";
import type { AgentName, ContextId, Scope, Task, TaskState } from "../../model/index.ts";
import { contextKey } from "../kernel/context-key.ts";
import { WaitingContexts } from "./waiting-contexts.ts";

const SCOPE = { tenant: "t", principal: "p" } as Scope;
const task = (name: string, state: TaskState): Task =>
  ({ contextId: name as ContextId, status: { state, at: 0 } }) as unknown as Task;

it("only contexts in which a task has waited are worth a query, those of earlier starts included", () => {
  let loads = 0;
  const queried: (string | undefined)[] = [];
  const waiting = new WaitingContexts({
    waitingContexts() {
      loads += 1;
      return [contextKey("stored")];
    },
    newest(_scope, _agent, { contextId }) {
      queried.push(contextId);
      return [];
    },
  });
  const ask = (name: string, states: readonly TaskState[] = ["input-required", "auth-required"]): void =>
    void waiting.newest(SCOPE, "a" as AgentName, { contextId: name as ContextId, states, max: 1 });
  waiting.onCommitted(task("asks", "input-required"));
  waiting.onCommitted(task("done", "completed"));
  for (const name of ["asks", "stored", "done"]) ask(name);
  ask("done", ["completed"]);
  ask("done", ["input-required", "working"]);
  waiting.onCommitted(task("asks", "completed"));
  ask("asks");
  expect(queried).toEqual(["asks", "stored", "done", "done", "asks"]);
  expect(loads).toBe(1);
});
