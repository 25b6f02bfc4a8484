/** Runs: turns of tasks. The id of a run is the id of the message that began its turn. */
import { isObject, type JsonObject } from "../lib/json.ts";
import {
  type AgentName,
  LIMITS,
  type Message,
  type Scope,
  type Seq,
  type Task,
  type TaskId,
} from "../model/index.ts";
import type { Agent, Catalog, Store } from "../ports/index.ts";
import { notFound } from "./faults.ts";
import { toIso } from "./fields.ts";
import type { FoundThread, ThreadRecords } from "./thread-records.ts";

export interface RunRecordParts {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly threads: ThreadRecords;
  readonly idOf: (name: string) => string;
  readonly wallTime: () => number;
}

export interface FoundRun {
  readonly id: string;
  readonly thread: FoundThread;
  readonly agent: Agent;
  readonly task: Task;
  /** The event of its message. */
  readonly seq: Seq;
  readonly createdAt: number;
  /** Of a run that another protocol began: undefined. */
  readonly request: StoredRun | undefined;
  readonly startAt: number;
  /** The task has not gone on to another turn. */
  readonly isCurrent: boolean;
}

/** What is recorded with the message of a run. */
export interface StoredRun {
  readonly run_id: string;
  readonly assistant_id: string;
  readonly metadata: JsonObject;
  readonly kwargs: JsonObject;
  readonly multitask_strategy: string;
}

export type RunStatus = "pending" | "running" | "success" | "error" | "interrupted";

export function createRunRecords({ store, catalog, threads, idOf, wallTime }: RunRecordParts) {
  async function toRun(
    scope: Scope,
    thread: FoundThread,
    task: Task,
    id: string,
    seq: Seq,
  ): Promise<FoundRun | null> {
    const agent = catalog.visibleTo(scope).find(task.agent);
    if (!agent || task.contextId !== thread.id) return null;
    const [step] = await store.log.read(scope, task.id, (seq - 1) as Seq, 1);
    const event = step?.event?.type === "message" ? step.event : undefined;
    const body = event?.request?.body;
    const isOwn = event?.message.messageId === id;
    return {
      id,
      thread,
      agent,
      task,
      seq,
      createdAt: step?.at ?? task.createdAt,
      request: isOwn && isObject(body) ? (body as unknown as StoredRun) : undefined,
      startAt: event?.request?.startAt ?? 0,
      isCurrent: !isOwn || task.message?.messageId === id,
    };
  }

  async function findNamed(
    scope: Scope,
    agent: AgentName,
    id: string,
  ): Promise<{ task: Task; seq: Seq } | null> {
    const named = await store.tasks.findByName(scope, agent, { kind: "message", name: id });
    const found = named && (await store.tasks.get(scope, named.taskId));
    return found ? { task: found.task, seq: named.seq } : null;
  }

  async function locate(scope: Scope, id: string): Promise<{ task: Task; seq: Seq } | null> {
    for (const { name } of catalog.visibleTo(scope).all()) {
      const named = await findNamed(scope, name, id);
      if (named) return named;
    }
    const found = await store.tasks.get(scope, id as TaskId);
    return found && !found.task.reply ? { task: found.task, seq: FIRST_MESSAGE } : null;
  }

  async function find(scope: Scope, thread: FoundThread, id: string): Promise<FoundRun | null> {
    const located = await locate(scope, id);
    return located && toRun(scope, thread, located.task, id, located.seq);
  }

  /** The newest first. A task that another protocol began is one run. */
  async function list(scope: Scope, thread: FoundThread): Promise<readonly FoundRun[]> {
    const tasks = await threads.tasksOf(scope, thread.id, LIMITS.pageSizeMax);
    const found: FoundRun[] = [];
    for (const task of tasks) {
      const own = await Promise.all(
        task.history.filter(isUser).map(one => findNamed(scope, task.agent, one.messageId)),
      );
      const named = own.flatMap((one, i) =>
        one ? [{ ...one, id: (task.history.filter(isUser)[i] as Message).messageId }] : [],
      );
      const all = named.length > 0 ? named : [{ task, seq: FIRST_MESSAGE, id: task.id as string }];
      for (const one of all) {
        const run = await toRun(scope, thread, one.task, one.id, one.seq);
        if (run) found.push(run);
      }
    }
    return found.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  }

  function statusOf({ task, isCurrent, startAt }: FoundRun): RunStatus {
    if (!isCurrent) return "success";
    switch (task.status.state) {
      case "submitted":
        return "pending";
      case "working":
        return startAt > wallTime() ? "pending" : "running";
      case "failed":
      case "rejected":
        return "error";
      case "canceled":
        return "interrupted";
      case "completed":
      case "input-required":
      case "auth-required":
        return "success";
    }
  }

  return {
    find,
    list,
    statusOf,
    async require(scope: Scope, thread: FoundThread, id: string): Promise<FoundRun> {
      const found = await find(scope, thread, id);
      if (!found) throw notFound("Run");
      return found;
    },
    /** Of whichever thread. */
    async requireAnywhere(scope: Scope, id: string): Promise<FoundRun> {
      const located = await locate(scope, id);
      const thread = located && (await threads.find(scope, located.task.contextId));
      const run = thread && (await toRun(scope, thread, located.task, id, located.seq));
      if (!run) throw notFound("Run");
      return run;
    },
    toJson(run: FoundRun): JsonObject {
      const { request, task } = run;
      const changedAt = run.isCurrent ? Math.max(task.status.at, run.createdAt) : run.createdAt;
      return {
        run_id: run.id,
        thread_id: run.thread.id,
        assistant_id: request?.assistant_id ?? idOf(run.agent.name),
        created_at: toIso(run.createdAt),
        updated_at: toIso(changedAt),
        status: statusOf(run),
        metadata: request?.metadata ?? {},
        kwargs: request ? toShownKwargs(run, request) : {},
        multitask_strategy: request?.multitask_strategy ?? "enqueue",
      };
    },
  };
}

export type RunRecords = ReturnType<typeof createRunRecords>;

/** With members that are known without being recorded. */
function toShownKwargs({ id, thread }: FoundRun, { kwargs, metadata }: StoredRun): JsonObject {
  const config = isObject(kwargs.config) ? kwargs.config : {};
  const configurable = isObject(config.configurable) ? config.configurable : {};
  return {
    context: {},
    ...kwargs,
    config: { ...config, configurable: { ...configurable, run_id: id }, metadata },
    temporary: thread.temporary === true,
  };
}

/** A task begins with `created`, then the message. */
const FIRST_MESSAGE = 2 as Seq;

const isUser = ({ role }: Message): boolean => role === "user";
