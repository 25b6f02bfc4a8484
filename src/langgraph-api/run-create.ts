/** Creates runs: on a thread, on a new one, or without one. */
import type { Json, JsonObject } from "../lib/json.ts";
import { Fault, isSettled, LIMITS, type Task } from "../model/index.ts";
import type { Agent, Store } from "../ports/index.ts";
import type { AssistantRecords, FoundAssistant } from "./assistant-records.ts";
import { matchesFilter, type ResourceAuthorizer, type ResourceFilter } from "./authorize.ts";
import { notFound } from "./faults.ts";
import { isUuid } from "./fields.ts";
import type { ApiCall } from "./route.ts";
import { type RunBody, readRunBody, toKwargs } from "./run-body.ts";
import { asObject, toRunConfig, toRunContext } from "./run-config.ts";
import { cancelTask } from "./run-control.ts";
import { toParts } from "./run-message.ts";
import type { FoundRun, RunRecords, StoredRun } from "./run-records.ts";
import type { FoundThread, ThreadRecords } from "./thread-records.ts";
import type { ThreadStates } from "./thread-state.ts";
import { toPush } from "./webhooks.ts";

export interface RunCreateParts {
  readonly store: Store;
  readonly assistants: AssistantRecords;
  readonly threads: ThreadRecords;
  readonly states: ThreadStates;
  readonly runs: RunRecords;
  readonly authorizer: ResourceAuthorizer;
  readonly configurableHeaders?: ConfigurableHeaders | undefined;
  /** The address of the webhook of a run or a cron; undefined: none. A Fault if it is not allowed. */
  readonly readWebhook: (body: JsonObject) => string | undefined;
  readonly newId: () => string;
  readonly wallTime: () => number;
}

/** Names of headers in lower case, in which `*` stands for any characters. undefined: the default. */
export interface ConfigurableHeaders {
  readonly includes: readonly string[] | undefined;
  readonly excludes: readonly string[] | undefined;
}

export interface CreatedRun {
  readonly run: FoundRun;
  readonly body: RunBody;
}

/** A run without a thread whose caller does not read it to its end is deleted after this time. */
const TEMPORARY_MINUTES = 60;
/** Deliveries to its webhook are retried for a day. */
const TEMPORARY_WEBHOOK_MINUTES = 25 * 60;

export function createRunCreation(parts: RunCreateParts) {
  const { threads, runs, assistants } = parts;

  /** `threadId` undefined: a thread for this run only. */
  async function create(call: ApiCall, threadId: string | undefined, given: JsonObject): Promise<CreatedRun> {
    const { value, filter } = await call.authorize(
      { resource: "threads", action: "create_run" },
      { ...given, ...(threadId !== undefined && { thread_id: threadId }) },
    );
    const body = readRunBody(value as JsonObject, parts.readWebhook(value as JsonObject));
    const found = await findAssistant(call, body.assistantId);
    const thread =
      threadId === undefined
        ? await openTemporary(call, body, found)
        : await openThread(call, threadId, body, found, filter);
    await makeRoom(call, thread, body);
    const runId = parts.newId();
    await send(call, thread, body, found, runId);
    return { run: await runs.require(call.scope, thread, runId), body };
  }

  async function findAssistant(call: ApiCall, id: string): Promise<FoundAssistant> {
    const { filter } = await call.authorize({ resource: "assistants", action: "read" }, { assistant_id: id });
    const found = await assistants.find(call.scope, id);
    if (found && matchesFilter(found.assistant.metadata, filter)) return found;
    throw new Fault(
      "task-not-found",
      `No assistant found for "${id}". Make sure the assistant ID is for a valid assistant or a valid graph ID.`,
    );
  }

  function openTemporary(call: ApiCall, body: RunBody, found: FoundAssistant): Promise<FoundThread> {
    const minutes = body.webhook === undefined ? TEMPORARY_MINUTES : TEMPORARY_WEBHOOK_MINUTES;
    const ttl = { strategy: "delete", ttl: minutes } as const;
    const record = { metadata: { ...body.metadata, ...membersOf(found) }, config: {} };
    const isKept = body.onCompletion === "keep";
    return threads.create(call.scope, parts.newId(), isKept ? record : { ...record, ttl, temporary: true });
  }

  async function openThread(
    call: ApiCall,
    threadId: string,
    body: RunBody,
    found: FoundAssistant,
    filter: ResourceFilter | undefined,
  ): Promise<FoundThread> {
    const known = await threads.find(call.scope, threadId);
    if (!known && body.ifNotExists !== "create") throw notFound("Thread");
    const metadata = { ...(known ?? body).metadata, ...membersOf(found) };
    if (!matchesFilter(metadata, filter)) throw notFound("Thread");
    if (!known) {
      if (!isUuid(threadId))
        throw new Fault("invalid-params", "thread_id must be a UUID", { field: "thread_id" });
      return threads.create(call.scope, threadId, { metadata, config: {} });
    }
    return threads.change(call.scope, threadId, old => {
      const { ttl, temporary, config, metadata: current } = old;
      return {
        metadata: { ...current, ...membersOf(found) },
        config,
        ...(ttl && { ttl }),
        ...(temporary && { temporary }),
      };
    });
  }

  /** What the strategy says about runs of the thread that have not ended. */
  async function makeRoom(call: ApiCall, thread: FoundThread, { strategy }: RunBody): Promise<void> {
    if (strategy === "enqueue") return;
    const tasks = await threads.tasksOf(call.scope, thread.id, LIMITS.pageSizeMax);
    const active = tasks.filter(({ status }) => !isSettled(status.state));
    if (active.length > 0 && strategy === "reject") throw isBusy();
    for (const task of active) {
      await cancelTask(call, task);
      if (strategy === "rollback") await rollBack(call, thread, task);
    }
  }

  async function rollBack(call: ApiCall, thread: FoundThread, task: Task): Promise<void> {
    const agent = assistants.findGraph(call.scope, task.agent);
    if (agent?.graph && task.message)
      await agent.graph.deleteRun(
        parts.states.graphContext(call.scope, agent, thread.id),
        task.message.messageId,
      );
    // The state from before is kept.
    await parts.store.maintenance.remove(call.scope, task.id, "keep");
  }

  async function send(
    call: ApiCall,
    thread: FoundThread,
    body: RunBody,
    found: FoundAssistant,
    runId: string,
  ): Promise<void> {
    const { agent, assistant } = found;
    const waiting = await findWaiting(call, thread, body, agent);
    const config = toConfig(call, body, found, thread);
    const skillId = asObject(config.configurable).skillId ?? body.metadata.skillId;
    const stored: StoredRun = {
      run_id: runId,
      assistant_id: assistant.assistant_id,
      metadata: { ...assistant.metadata, ...thread.metadata, ...body.metadata },
      kwargs: toKwargs({
        ...body,
        config,
        context: toRunContext(assistant, body.context),
      }),
      multitask_strategy: body.strategy,
    };
    const required = agent.card.extensions.filter(one => one.required).map(one => one.uri);
    try {
      await call.execute({
        op: "send",
        agent: agent.name,
        until: "accepted",
        view: { artifacts: false, historyMax: 0 },
        send: {
          origin: "langgraph",
          message: {
            messageId: runId,
            role: "user",
            parts: toParts(body, agent),
            ...(skillId !== undefined && { metadata: { skillId } }),
          },
          inputField: "input",
          shown: true,
          contextId: thread.id,
          ...(waiting && { taskId: waiting.id }),
          ...(body.strategy === "reject" && { free: true }),
          extensions: required,
          ...(body.webhook !== undefined && { push: toPush(body.webhook, runId) }),
          request: {
            body: stored as unknown as Json as JsonObject,
            ...(body.afterMs > 0 && { startAt: parts.wallTime() + body.afterMs }),
          },
        },
      });
    } catch (error) {
      throw error instanceof Fault && error.code === "busy" ? isBusy() : error;
    }
  }

  /** The task that the run continues; undefined: a new one. New input for a graph begins anew, as in LangGraph. */
  async function findWaiting(
    call: ApiCall,
    thread: FoundThread,
    body: RunBody,
    agent: Agent,
  ): Promise<Task | undefined> {
    if (agent.graph && !body.command && body.input !== null) return undefined;
    if (body.checkpoint) return undefined;
    const [newest] = await threads.tasksOf(call.scope, thread.id, 1);
    const waits =
      newest?.status.state === "input-required" && newest.agent === agent.name && !newest.status.again;
    return waits ? newest : undefined;
  }

  function toConfig(call: ApiCall, body: RunBody, { assistant }: FoundAssistant, thread: FoundThread) {
    const caller = { scope: call.scope, principal: call.principal, headers: call.headers };
    return toRunConfig(assistant, thread.id, body.config, {
      headers: headersFor(call, parts.configurableHeaders),
      user: parts.authorizer.configurable(caller),
    });
  }

  return { create, rollBack };
}

export type RunCreation = ReturnType<typeof createRunCreation>;

/** What a thread has in its metadata about its last run. */
const membersOf = ({ assistant: { graph_id, assistant_id } }: FoundAssistant): JsonObject => ({
  graph_id,
  assistant_id,
});

const SECRET_HEADERS: ReadonlySet<string> = new Set(["x-api-key", "x-tenant-id", "x-service-key"]);

/** Headers that carry credentials are never passed on by default. */
function headersFor({ headers }: ApiCall, rules: ConfigurableHeaders | undefined): JsonObject {
  const isIncluded = rules?.includes ? toTest(rules.includes) : isDefault;
  const isExcluded = toTest(rules?.excludes ?? []);
  const all = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && isIncluded(name) && !isExcluded(name),
  );
  return Object.fromEntries(all) as JsonObject;
}

const isDefault = (name: string): boolean =>
  name === "user-agent" || (name.startsWith("x-") && !SECRET_HEADERS.has(name));

function toTest(patterns: readonly string[]): (name: string) => boolean {
  const tests = patterns.map(pattern => {
    const parts = pattern.split("*").map(part => part.replace(/[^\w-]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`);
  });
  return name => tests.some(test => test.test(name));
}

const isBusy = (): Fault =>
  new Fault(
    "busy",
    "Thread is already running a task. Wait for it to finish or choose a different multitask strategy.",
  );
