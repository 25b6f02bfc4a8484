/** Threads: the contexts of a caller with their metadata. A context that another protocol began is a thread as well. */
import type { JsonObject } from "../lib/json.ts";
import {
  type AgentName,
  type ContextId,
  Fault,
  isSettled,
  LIMITS,
  type Scope,
  type Task,
} from "../model/index.ts";
import type { Agent, Catalog, Resource, Store } from "../ports/index.ts";
import { notFound } from "./faults.ts";

export interface ThreadParts {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly idOf: (name: string) => string;
  readonly now: () => number;
  readonly wallTime: () => number;
}

export interface ThreadTtl {
  readonly strategy: "delete" | "keep_latest";
  /** In minutes. */
  readonly ttl: number;
}

/** The stored part of a thread. */
export interface ThreadRecord {
  readonly metadata: JsonObject;
  readonly config: JsonObject;
  readonly ttl?: ThreadTtl;
  /** A run without a thread of the caller's began it: it is deleted with the end of the run. */
  readonly temporary?: true;
}

export interface FoundThread extends ThreadRecord {
  readonly id: ContextId;
  readonly resource: Resource;
}

const MINUTE_MS = 60_000;

export function createThreadRecords(parts: ThreadParts) {
  const { store, catalog, idOf } = parts;

  const toFound = (resource: Resource): FoundThread => ({
    ...(resource.value as unknown as ThreadRecord),
    id: resource.id as ContextId,
    resource,
  });

  const toValue = (record: ThreadRecord): JsonObject => record as unknown as JsonObject;

  const expiryOf = ({ ttl }: ThreadRecord): { readonly expiresAt?: number } =>
    ttl ? { expiresAt: parts.wallTime() + ttl.ttl * MINUTE_MS } : {};

  /** Fault("conflict"): it exists. */
  async function create(scope: Scope, id: string, record: ThreadRecord): Promise<FoundThread> {
    const at = parts.now();
    const resource = { id, createdAt: at, updatedAt: at, ...expiryOf(record), value: toValue(record) };
    return toFound(await store.resources.put(scope, "context", resource, "absent"));
  }

  /** The tasks of a context, the newest status first. */
  async function tasksOf(scope: Scope, id: ContextId, max: number): Promise<readonly Task[]> {
    const agents = catalog.visibleTo(scope).all();
    const filter = { contextId: id, pageSize: Math.min(max, LIMITS.pageSizeMax) };
    const pages = await Promise.all(agents.map(agent => store.tasks.list(scope, agent.name, filter)));
    return pages.flatMap(page => page.tasks).sort((a, b) => b.status.at - a.status.at);
  }

  /** A context that tasks of another protocol began gets a record. */
  async function adopt(scope: Scope, id: ContextId): Promise<FoundThread | null> {
    const [task] = await tasksOf(scope, id, 1);
    if (!task) return null;
    const metadata = { graph_id: task.agent, assistant_id: idOf(task.agent) };
    try {
      return await create(scope, id, { metadata, config: {} });
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "conflict") throw error;
      return find(scope, id);
    }
  }

  async function find(scope: Scope, id: string): Promise<FoundThread | null> {
    const resource = await store.resources.find(scope, "context", id);
    return resource ? toFound(resource) : adopt(scope, id as ContextId);
  }

  /** Reads, changes and writes; repeated if another call came in between. */
  async function change(
    scope: Scope,
    id: string,
    toRecord: (thread: FoundThread) => ThreadRecord,
  ): Promise<FoundThread> {
    for (let tries = 1; ; tries++) {
      const thread = await find(scope, id);
      if (!thread) throw notFound("Thread");
      const record = toRecord(thread);
      const { createdAt, rev } = thread.resource;
      const resource = { id, createdAt, updatedAt: parts.now(), ...expiryOf(record), value: toValue(record) };
      try {
        return toFound(await store.resources.put(scope, "context", resource, rev));
      } catch (error) {
        const isConflict = error instanceof Fault && error.code === "conflict";
        if (!isConflict || tries >= LIMITS.conflictTriesMax) throw error;
      }
    }
  }

  return {
    find,
    create,
    change,
    tasksOf,
    async require(scope: Scope, id: string): Promise<FoundThread> {
      const found = await find(scope, id);
      if (!found) throw notFound("Thread");
      return found;
    },
    /** The agent whose state is that of the thread; undefined: none has run yet. */
    async agentOf(scope: Scope, thread: FoundThread): Promise<Agent | undefined> {
      const visible = catalog.visibleTo(scope);
      const { graph_id: name } = thread.metadata;
      if (typeof name === "string") return visible.find(name as AgentName);
      const [task] = await tasksOf(scope, thread.id, 1);
      return task && visible.find(task.agent);
    },
    async isBusy(scope: Scope, id: ContextId): Promise<boolean> {
      return (await tasksOf(scope, id, LIMITS.pageSizeMax)).some(task => !isSettled(task.status.state));
    },
    /** Contexts of the newest tasks that have no record yet get one. */
    async adoptNewest(scope: Scope): Promise<void> {
      for (const { name } of catalog.visibleTo(scope).all()) {
        const filter = { pageSize: LIMITS.pageSizeMax };
        const { tasks } = await store.tasks.list(scope, name, filter, { artifacts: false, historyMax: 0 });
        const ids = new Set(tasks.map(task => task.contextId));
        for (const id of ids) await find(scope, id);
      }
    },
    list: async (scope: Scope, range: Parameters<typeof store.resources.list>[2]) =>
      (await store.resources.list(scope, "context", range)).map(toFound),
    /** With all its tasks and its state; tasks that still run must be canceled first. */
    async remove(scope: Scope, id: ContextId): Promise<void> {
      for (let tasks = await tasksOf(scope, id, LIMITS.pageSizeMax); tasks.length > 0; ) {
        const removed = await Promise.all(
          tasks.map(task => store.maintenance.remove(scope, task.id, "delete")),
        );
        if (!removed.includes(true))
          throw new Fault("conflict", "The thread has runs that cannot be deleted now");
        tasks = await tasksOf(scope, id, LIMITS.pageSizeMax);
      }
      for (const agent of catalog.visibleTo(scope).all()) await clearStorage(scope, agent, id);
      await store.resources.remove(scope, "context", id);
    },
  };

  async function clearStorage(scope: Scope, { name }: Agent, id: ContextId): Promise<void> {
    const area = { scope, agent: name, area: id };
    for (;;) {
      const items = await store.storage.list(area, { prefix: "", max: LIMITS.pageSizeMax });
      if (items.length === 0) return;
      await store.storage.put(
        area,
        items.map(({ key }) => ({ key, value: undefined })),
      );
    }
  }
}

export type ThreadRecords = ReturnType<typeof createThreadRecords>;
