/** Begins the runs of crons. */
import { defined, isObject, type Json, type JsonObject } from "../lib/json.ts";
import { type ContextId, Fault, type Part, type Scope } from "../model/index.ts";
import type { DueSchedule, ExecuteOperation, Schedule } from "../ports/index.ts";
import type { Assistant, AssistantRecords } from "./assistant-records.ts";
import { asObject, toRunConfig, toRunContext } from "./run-config.ts";
import type { ThreadRecords } from "./thread-records.ts";
import { toPush } from "./webhooks.ts";

export interface CronRunParts {
  readonly execute: ExecuteOperation;
  /** A UUID that follows from a text. */
  readonly idOf: (text: string) => string;
  readonly threads: Pick<ThreadRecords, "create">;
  readonly assistants: Pick<AssistantRecords, "find">;
}

/** The thread of a run that is to be deleted is kept for this time after its beginning. */
const TEMPORARY_MINUTES = 60;
/** The dialect in which the tasks of crons are created. */
const ORIGIN = "langgraph";
const VIEW = { artifacts: false, historyMax: 0 } as const;

/**
 * The run of this time of the schedule. Ids follow from the key, and the key is recorded with the run: however often it is
 * tried, by whichever node, there is one run.
 */
export const createCronRuns =
  ({ execute, idOf, threads, assistants }: CronRunParts) =>
  async ({ scope, schedule }: DueSchedule, key: string): Promise<void> => {
    const runId = idOf(key);
    const { payload, agent } = schedule;
    const threadId = schedule.contextId ?? idOf(`${key}:thread`);
    if (schedule.contextId === undefined) await openThread(threads, scope, threadId, schedule);
    const named = String(payload.assistant_id ?? agent);
    // One that was deleted has no config any more; its graph is still there.
    const found = (await assistants.find(scope, named)) ?? (await assistants.find(scope, agent));
    const body: JsonObject = {
      run_id: runId,
      assistant_id: found?.assistant.assistant_id ?? named,
      metadata: { ...found?.assistant.metadata, ...schedule.metadata, cron_id: schedule.id },
      kwargs: toKwargs(payload, threadId, found?.assistant),
      multitask_strategy: payload.multitask_strategy ?? "enqueue",
    };
    await execute(
      {
        op: "send",
        agent,
        send: {
          origin: ORIGIN,
          message: { messageId: runId, role: "user", parts: toParts(payload.input) },
          shown: true,
          contextId: threadId as ContextId,
          key,
          extensions: [],
          request: { body },
          ...(typeof payload.webhook === "string" && { push: toPush(payload.webhook, runId) }),
        },
        until: "accepted",
        view: VIEW,
      },
      scope,
      () => NEVER,
    );
  };

/** An earlier attempt may have created it. */
async function openThread(
  threads: CronRunParts["threads"],
  scope: Scope,
  id: string,
  { agent, payload, metadata, id: cronId }: Schedule,
): Promise<void> {
  const about = { graph_id: agent, assistant_id: payload.assistant_id ?? agent, cron_id: cronId };
  const record = { metadata: { ...metadata, ...about }, config: {} };
  const isKept = payload.on_run_completed === "keep";
  const ttl = { strategy: "delete", ttl: TEMPORARY_MINUTES } as const;
  await threads.create(scope, id, isKept ? record : { ...record, ttl, temporary: true }).catch(error => {
    if (!(error instanceof Fault) || error.code !== "conflict") throw error;
  });
}

/** The call belongs to no connection. */
const NEVER = new AbortController().signal;

const NO_CALLER = { headers: {}, user: {} };

const toKwargs = (payload: JsonObject, threadId: string, assistant: Assistant | undefined): JsonObject =>
  defined<Record<string, Json>>({
    input: payload.input ?? null,
    config: assistant
      ? toRunConfig(assistant, threadId, asObject(payload.config), NO_CALLER)
      : (payload.config ?? {}),
    context: assistant ? toRunContext(assistant, asObject(payload.context)) : payload.context,
    stream_mode: payload.stream_mode ?? ["values"],
    subgraphs: payload.stream_subgraphs,
    interrupt_before: payload.interrupt_before,
    interrupt_after: payload.interrupt_after,
    webhook: payload.webhook,
  } as Record<string, Json>);

/** What an agent that is no graph gets, and what other protocols show of the run. */
function toParts(input: Json | undefined): readonly Part[] {
  if (!isObject(input)) return [toPart(input ?? {})];
  const { messages, ...data } = input;
  const all: readonly Json[] = Array.isArray(messages) ? messages : messages === undefined ? [] : [messages];
  const parts = all.map(message => toPart(isObject(message) ? (message.content ?? message) : message));
  return Object.keys(data).length > 0 || parts.length === 0 ? [...parts, { kind: "data", data }] : parts;
}

const toPart = (value: Json): Part =>
  typeof value === "string" && value !== "" ? { kind: "text", text: value } : { kind: "data", data: value };
