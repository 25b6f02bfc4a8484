/** The routes that end runs: cancel one, cancel many, delete. */
import type { JsonObject } from "../lib/json.ts";
import { isSettled, LIMITS, type Task } from "../model/index.ts";
import type { Catalog, Store } from "../ports/index.ts";
import { invalidField, readString, readStrings } from "../protocol/shared/fields.ts";
import { matchesFilter } from "./authorize.ts";
import { readChoice, readFlag } from "./fields.ts";
import { type ApiCall, type ApiReply, type ApiRoute, readBody } from "./route.ts";
import { cancelTask } from "./run-control.ts";
import type { RunCreation } from "./run-create.ts";
import type { FoundRun, RunRecords } from "./run-records.ts";
import type { FoundThread, ThreadRecords } from "./thread-records.ts";
import { requireThread } from "./threads.ts";

export interface CancelRouteParts {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly threads: ThreadRecords;
  readonly runs: RunRecords;
  readonly creation: RunCreation;
  /** The run in the path, if the authorizer lets the caller touch it. */
  readonly requireRun: (call: ApiCall, action: "update" | "delete") => Promise<FoundRun>;
}

const STATUSES = ["pending", "running", "all"] as const;

export function createCancelRoutes(parts: CancelRouteParts): readonly ApiRoute[] {
  const { store, catalog, threads, runs, creation, requireRun } = parts;

  const readAction = ({ query }: ApiCall) =>
    readChoice(Object.fromEntries(query) as JsonObject, "action", ["interrupt", "rollback"]);

  /** Waits for the end, so that the next call finds the thread idle. */
  async function stop(call: ApiCall, run: FoundRun, action: string | undefined): Promise<void> {
    if (run.isCurrent && !isSettled(run.task.status.state)) await cancelTask(call, run.task);
    if (action === "rollback") await creation.rollBack(call, run.thread, run.task);
  }

  async function cancel(call: ApiCall): Promise<ApiReply> {
    const run = await requireRun(call, "update");
    await stop(call, run, readAction(call));
    return readFlag(call.query, "wait") ? { status: 204 } : { status: 202, json: {} };
  }

  /** The runs of a thread by their ids, or those of the caller that have not ended. */
  async function cancelMany(call: ApiCall): Promise<ApiReply> {
    const body = readBody(call);
    const action = readAction(call);
    const status = readChoice(body, "status", STATUSES);
    const ids = readStrings(body, "run_ids", "");
    const thread = readString(body, "thread_id", "");
    if ((status === undefined) === (ids === undefined && thread === undefined))
      throw invalidField("body", "must have either status, or thread_id and run_ids");
    const found = status ? await findActive(call, status) : await findNamed(call, thread, ids);
    for (const run of found) await stop(call, run, action);
    return { status: 204 };
  }

  async function findNamed(
    call: ApiCall,
    threadId: string | undefined,
    ids: readonly string[] | undefined,
  ): Promise<readonly FoundRun[]> {
    if (threadId === undefined) throw invalidField("thread_id", "is required with run_ids");
    if (ids === undefined) throw invalidField("run_ids", "is required with thread_id");
    const vars = { ...call.vars, thread_id: threadId };
    const thread = await requireThread(threads, { ...call, vars }, "update");
    return Promise.all(ids.map(id => runs.require(call.scope, thread, id)));
  }

  async function findActive(call: ApiCall, status: string): Promise<readonly FoundRun[]> {
    const { filter } = await call.authorize({ resource: "threads", action: "update" }, { status });
    const byThread = Map.groupBy(await listActive(call), task => task.contextId);
    const all: FoundRun[] = [];
    for (const id of byThread.keys()) {
      const thread = (await threads.find(call.scope, id)) as FoundThread;
      if (!matchesFilter(thread.metadata, filter)) continue;
      const active = (await runs.list(call.scope, thread)).filter(
        run => run.isCurrent && !isSettled(run.task.status.state),
      );
      all.push(...active.filter(run => status === "all" || runs.statusOf(run) === status));
    }
    return all;
  }

  async function listActive({ scope }: ApiCall): Promise<readonly Task[]> {
    const found: Task[] = [];
    for (const { name } of catalog.visibleTo(scope).all())
      for (const state of ["submitted", "working"] as const) {
        const page = await store.tasks.list(scope, name, { state, pageSize: LIMITS.pageSizeMax });
        found.push(...page.tasks);
      }
    return found;
  }

  async function remove(call: ApiCall): Promise<ApiReply> {
    const run = await requireRun(call, "delete");
    await stop(call, run, undefined);
    // The state of the thread is kept, as in the original.
    await store.maintenance.remove(call.scope, run.task.id, "keep");
    return { status: 204 };
  }

  const path = "/threads/{thread_id}/runs/{run_id}";
  return [
    { verb: "POST", path: "/runs/cancel", access: "write", serve: cancelMany },
    { verb: "POST", path: `${path}/cancel`, access: "write", serve: cancel },
    { verb: "DELETE", path, access: "write", serve: remove },
  ];
}
