import { applyView, LIMITS, type Scope, type Task, taskSize } from "../model/index.ts";
import type { Agent, OperationResult, Page } from "../ports/index.ts";
import { findAgent, type OperationOf, type OperationParts } from "./lookup.ts";

type ListOperation = OperationOf<"list">;

export async function list(
  parts: OperationParts,
  operation: ListOperation,
  scope: Scope,
): Promise<OperationResult> {
  const agent = findAgent(parts, operation, scope);
  const read = operation.whole ? readAll : readPage;
  const page = await read(parts, operation, scope, agent);
  return { kind: "page", page: { ...page, tasks: page.tasks.map(task => applyView(task, operation.view)) } };
}

const readPage = (
  { store }: OperationParts,
  { filter, view }: ListOperation,
  scope: Scope,
  { name }: Agent,
): Promise<Page> => store.tasks.list(scope, name, filter, view);

/** All pages as one, up to a number of bytes; where it ends early, it has the token of the next page. */
async function readAll(
  parts: OperationParts,
  operation: ListOperation,
  scope: Scope,
  agent: Agent,
): Promise<Page> {
  const tasks: Task[] = [];
  let bytes = 0;
  let page = await readPage(parts, operation, scope, agent);
  for (;;) {
    for (const task of page.tasks) bytes += taskSize(task, operation.view);
    tasks.push(...page.tasks);
    const { nextPageToken: pageToken } = page;
    if (pageToken === "" || bytes >= LIMITS.pageBytesMax) return { ...page, tasks };
    const filter = { ...operation.filter, pageToken };
    page = await readPage(parts, { ...operation, filter }, scope, agent);
  }
}
