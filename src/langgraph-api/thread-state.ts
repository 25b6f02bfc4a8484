/** The state of a thread: that of its graph, or for an agent that is no graph, its conversation. */
import type { JsonObject } from "../lib/json.ts";
import { type ContextId, Fault, isSettled, LIMITS, type Scope, type Task } from "../model/index.ts";
import type {
  Agent,
  CheckpointRef,
  GraphContext,
  HistoryRange,
  StateUpdate,
  Store,
  ThreadSnapshot,
} from "../ports/index.ts";
import { notFound } from "./faults.ts";
import { toIso } from "./fields.ts";
import { toMessages } from "./plain-messages.ts";
import type { FoundRun } from "./run-records.ts";
import type { FoundThread, ThreadRecords } from "./thread-records.ts";

export interface ThreadStateParts {
  readonly store: Pick<Store, "storage" | "tasks">;
  readonly threads: ThreadRecords;
}

export type ThreadStatus = "idle" | "busy" | "interrupted" | "error";

/** A thread as it is on the wire. */
export interface Thread {
  readonly thread_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly state_updated_at: string;
  readonly metadata: JsonObject;
  readonly config: JsonObject;
  readonly status: ThreadStatus;
  readonly values: JsonObject | null;
  readonly interrupts: JsonObject;
}

const EMPTY_STATE = (threadId: string): ThreadSnapshot => ({
  values: {},
  next: [],
  tasks: [],
  metadata: {},
  created_at: null,
  checkpoint: { thread_id: threadId, checkpoint_ns: "", checkpoint_id: null, checkpoint_map: null },
  parent_checkpoint: null,
  interrupts: [],
});

export function createThreadState({ store, threads }: ThreadStateParts) {
  const graphContext = (scope: Scope, agent: Agent, contextId: ContextId): GraphContext => {
    const area = { scope, agent: agent.name, area: contextId };
    return {
      contextId,
      caller: scope,
      storage: {
        get: key => store.storage.get(area, key),
        list: range => store.storage.list(area, range),
        put: changes => store.storage.put(area, changes),
      },
    };
  };

  /** Of an agent that is no graph: one state for each task, oldest first. */
  async function readPlainStates(
    scope: Scope,
    agent: Agent,
    id: ContextId,
  ): Promise<readonly ThreadSnapshot[]> {
    const filter = { contextId: id, pageSize: LIMITS.pageSizeMax };
    const { tasks } = await store.tasks.list(scope, agent.name, filter);
    const ordered = [...tasks].sort((a, b) => (a.id < b.id ? -1 : 1));
    const messages: JsonObject[] = [];
    let parent: JsonObject | null = null;
    return ordered.map((task, step) => {
      messages.push(...toMessages(task));
      const state = toPlainState(task, agent, step, [...messages], parent);
      parent = state.checkpoint;
      return state;
    });
  }

  async function readState(
    scope: Scope,
    thread: FoundThread,
    at: CheckpointRef | undefined,
    subgraphs: boolean,
  ): Promise<ThreadSnapshot> {
    const agent = await threads.agentOf(scope, thread);
    if (!agent) return EMPTY_STATE(thread.id);
    if (agent.graph) return agent.graph.readState(graphContext(scope, agent, thread.id), at, subgraphs);
    const states = await readPlainStates(scope, agent, thread.id);
    if (at?.checkpoint_id === undefined) return states.at(-1) ?? EMPTY_STATE(thread.id);
    const found = states.find(one => one.checkpoint.checkpoint_id === at.checkpoint_id);
    if (!found) throw notFound("Checkpoint");
    return found;
  }

  async function readHistory(
    scope: Scope,
    thread: FoundThread,
    range: HistoryRange,
  ): Promise<readonly ThreadSnapshot[]> {
    const agent = await threads.agentOf(scope, thread);
    if (!agent) return [];
    if (agent.graph) return agent.graph.readHistory(graphContext(scope, agent, thread.id), range);
    const states = (await readPlainStates(scope, agent, thread.id)).toReversed();
    const before = range.before?.checkpoint_id;
    const from =
      before === undefined ? 0 : states.findIndex(one => one.checkpoint.checkpoint_id === before) + 1;
    return states.slice(from, from + range.limit);
  }

  /** At the end of a run, also if the thread has gone on since. */
  async function readRunState(
    scope: Scope,
    { agent, thread, task, id }: Pick<FoundRun, "agent" | "thread" | "task" | "id">,
  ): Promise<ThreadSnapshot> {
    if (!agent.graph) return readState(scope, thread, { checkpoint_id: task.id }, false);
    const [own] = await readHistory(scope, thread, { limit: 1, metadata: { run_id: id } });
    return own ?? readState(scope, thread, undefined, false);
  }

  async function updateState(
    scope: Scope,
    thread: FoundThread,
    at: CheckpointRef | undefined,
    steps: readonly (readonly StateUpdate[])[],
  ): Promise<JsonObject> {
    const agent = await threads.agentOf(scope, thread);
    if (!agent)
      throw new Fault(
        "unsupported-operation",
        "The thread has no graph yet: set metadata.graph_id, or run it once",
      );
    if (!agent.graph)
      throw new Fault(
        "unsupported-operation",
        `The agent "${agent.name}" is no graph: its state cannot be set`,
      );
    if (await threads.isBusy(scope, thread.id))
      throw new Fault("busy", "The thread is busy: its state can be changed when its run has ended");
    return agent.graph.updateState(graphContext(scope, agent, thread.id), at, steps);
  }

  /** `withValues` false: a list that does not show them. */
  async function describe(scope: Scope, thread: FoundThread, withValues = true): Promise<Thread> {
    const tasks = await threads.tasksOf(scope, thread.id, LIMITS.pageSizeMax);
    const { resource, metadata, config, id } = thread;
    const state = withValues ? await readState(scope, thread, undefined, false) : undefined;
    const changedAt = Math.max(resource.updatedAt, tasks[0]?.status.at ?? 0);
    const hasState = state?.created_at !== null;
    return {
      thread_id: id,
      created_at: toIso(resource.createdAt),
      updated_at: toIso(changedAt),
      state_updated_at: state?.created_at ?? toIso(changedAt),
      metadata,
      config,
      status: toStatus(tasks),
      values: state && hasState ? state.values : null,
      interrupts: state ? toInterrupts(state) : {},
    };
  }

  /** Of a thread that was created just now. */
  const describeNew = ({ resource, metadata, config, id }: FoundThread): Thread => ({
    thread_id: id,
    created_at: toIso(resource.createdAt),
    updated_at: toIso(resource.updatedAt),
    state_updated_at: toIso(resource.updatedAt),
    metadata,
    config,
    status: "idle",
    values: null,
    interrupts: {},
  });

  return { graphContext, readState, readHistory, readRunState, updateState, describe, describeNew };
}

export type ThreadStates = ReturnType<typeof createThreadState>;

/** `tasks`: the newest status first. */
export function toStatus(tasks: readonly Task[]): ThreadStatus {
  if (tasks.some(task => !isSettled(task.status.state))) return "busy";
  const state = tasks[0]?.status.state;
  if (state === "input-required" || state === "auth-required") return "interrupted";
  return state === "failed" || state === "rejected" ? "error" : "idle";
}

/** By the id of the graph's task. */
const toInterrupts = ({ tasks }: ThreadSnapshot): JsonObject =>
  Object.fromEntries(
    tasks
      .filter(({ interrupts }) => Array.isArray(interrupts) && interrupts.length > 0)
      .map(({ id, interrupts }) => [String(id), interrupts as JsonObject]),
  );

function toPlainState(
  task: Task,
  agent: Agent,
  step: number,
  messages: readonly JsonObject[],
  parent: JsonObject | null,
): ThreadSnapshot {
  const { state, message } = task.status;
  const waits = state === "input-required" || state === "auth-required";
  const value = message ? toMessages({ ...task, history: [], artifacts: [] })[0]?.content : undefined;
  const interrupts = waits ? [{ id: task.id, value: value ?? null }] : [];
  return {
    values: { messages },
    next: waits ? [agent.name] : [],
    tasks: waits
      ? [
          {
            id: task.id,
            name: agent.name,
            path: ["__pregel_pull", agent.name],
            error: null,
            interrupts,
            checkpoint: null,
            state: null,
            result: null,
          },
        ]
      : [],
    metadata: { source: "loop", step, parents: {}, run_id: task.id },
    created_at: toIso(task.status.at),
    checkpoint: {
      thread_id: task.contextId,
      checkpoint_ns: "",
      checkpoint_id: task.id,
      checkpoint_map: null,
    },
    parent_checkpoint: parent,
    interrupts,
  };
}
