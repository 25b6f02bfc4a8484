/** Begins the runs of crons. */
import { defined, isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { ContextId, Part } from "../model/index.ts";
import type { DueSchedule, ExecuteOperation } from "../ports/index.ts";

export interface CronRunParts {
  readonly execute: ExecuteOperation;
  /** A UUID that follows from a text. */
  readonly idOf: (text: string) => string;
}

/** The dialect in which the tasks of crons are created. */
const ORIGIN = "langgraph";
const VIEW = { artifacts: false, historyMax: 0 } as const;

/**
 * The run of this time of the schedule. Ids follow from the key, and the key is recorded with the run: however often it is
 * tried, by whichever node, there is one run.
 */
export const createCronRuns =
  ({ execute, idOf }: CronRunParts) =>
  async ({ scope, schedule }: DueSchedule, key: string): Promise<void> => {
    const runId = idOf(key);
    const { payload, agent } = schedule;
    const body: JsonObject = {
      run_id: runId,
      assistant_id: payload.assistant_id ?? agent,
      metadata: { ...schedule.metadata, cron_id: schedule.id },
      kwargs: toKwargs(payload),
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
          contextId: (schedule.contextId ?? idOf(`${key}:thread`)) as ContextId,
          key,
          extensions: [],
          request: { body },
        },
        until: "accepted",
        view: VIEW,
      },
      scope,
      () => NEVER,
    );
  };

/** The call belongs to no connection. */
const NEVER = new AbortController().signal;

const toKwargs = (payload: JsonObject): JsonObject =>
  defined<Record<string, Json>>({
    input: payload.input ?? null,
    config: payload.config ?? {},
    context: payload.context,
    stream_mode: payload.stream_mode ?? ["values"],
    interrupt_before: payload.interrupt_before,
    interrupt_after: payload.interrupt_after,
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
