import { isObject, type JsonObject } from "../lib/json.ts";
import type { LoopBudget } from "../lib/loop-budget.ts";
import { BEGINNING, LIMITS, type RecordedEvent, type Seq, type TaskEvent } from "../model/index.ts";
import type { OwnedTask, Store } from "../ports/index.ts";
import { describeOutcome } from "../timeline/outcome.ts";
import { type Timeline, TimelineBuilder, type TimelineEntry } from "../timeline/timeline.ts";
import type { Delivery, EventRow, RunRow, StepRow, TaskDetail, TimelineRow, TurnRow } from "./api.ts";
import { toTaskRow } from "./task-row.ts";

export interface TaskDetailParts {
  readonly store: Store;
  /** Shared by all that read much of a log. */
  readonly loop: LoopBudget;
  readonly now: () => number;
}

/** Entries, runs and steps of one response; those in the middle are left out. */
const ENTRIES_MAX = 2_000;
const TEXT_CHARS_MAX = 2_000;

/** Reads the whole log: its cost is linear, and other work runs in between. */
export async function readTaskDetail(
  parts: TaskDetailParts,
  owned: OwnedTask,
  isOperator: boolean,
  more: { readonly deliveries: readonly Delivery[]; readonly input: JsonObject | null },
): Promise<TaskDetail> {
  const timeline = await readTimeline(parts, owned);
  const { attempts, steps, turns, waits } = timeline;
  const entries = keepEnds(timeline.entries);
  return {
    task: toTaskRow(owned),
    why: describeOutcome(isOperator ? timeline : withoutErrors(timeline)),
    phase: timeline.phase,
    phaseAt: timeline.since,
    times: { queueMs: waits.queue, runMs: waits.run, inputMs: waits.input, interruptedMs: waits.lost },
    turns: keepEnds(turns).map(toTurnRow),
    runs: keepEnds(attempts).map(one => toRunRow(one, isOperator)),
    steps: keepEnds(steps).map(toStepRow),
    entries: entries.map(toTimelineRow),
    entriesOmitted: timeline.entries.length - entries.length,
    isCompacted: timeline.isCompacted,
    ...more,
  };
}

async function readTimeline({ store, loop, now }: TaskDetailParts, owned: OwnedTask): Promise<Timeline> {
  const { scope, task, seq: end, since } = owned;
  if (since > 0) {
    const builder = new TimelineBuilder(task);
    return builder.build(now());
  }
  const builder = new TimelineBuilder(null);
  for (let after = BEGINNING; after < end; ) {
    const steps = await store.log.read(scope, task.id, after, LIMITS.readMax);
    if (steps.length === 0 || steps[0]?.event === null) break;
    for (const { seq, at, event } of steps) builder.add({ seq, at, event } as RecordedEvent);
    after = steps.at(-1)?.seq as Seq;
    await loop.take(steps.length);
  }
  return builder.build(now());
}

/** The message of an exception is for operators. */
const withoutErrors = (timeline: Timeline): Timeline => ({
  ...timeline,
  attempts: timeline.attempts.map(({ error, ...rest }) => rest),
});

function keepEnds<T>(all: readonly T[]): readonly T[] {
  return all.length <= ENTRIES_MAX ? all : [...all.slice(0, ENTRIES_MAX / 2), ...all.slice(-ENTRIES_MAX / 2)];
}

const BINDINGS: Readonly<Record<string, string>> = { jsonrpc: "JSON-RPC", rest: "HTTP+JSON", grpc: "gRPC" };

const toTurnRow = ({ turn, seq, at, text, via, traceId, key }: Timeline["turns"][number]): TurnRow => ({
  turn,
  seq,
  at,
  text: text.slice(0, TEXT_CHARS_MAX),
  binding: BINDINGS[via] ?? via,
  traceId: traceId ?? null,
  idempotencyKey: key ?? null,
});

const toRunRow = (one: Timeline["attempts"][number], isOperator: boolean): RunRow => ({
  run: one.attempt,
  turn: one.turn,
  seq: one.seq,
  startedAt: one.startedAt,
  endedAt: one.endedAt ?? null,
  queueMs: one.queueMs,
  outcome: one.outcome ?? null,
  error: (isOperator && one.error) || null,
});

const toStepRow = (one: Timeline["steps"][number]): StepRow => ({
  run: one.attempt,
  seq: one.seq,
  at: one.at,
  kind: one.kind,
  name: one.name,
  threw: one.threw,
  called: one.called ?? null,
  withinMs: one.withinMs,
});

const toTimelineRow = ({ attempt, text, ...rest }: TimelineEntry): TimelineRow => ({
  ...rest,
  text: text.slice(0, TEXT_CHARS_MAX),
  run: attempt,
});

/** An event as it is in the log. The error of a status is for operators. */
export function toEventRow(
  { seq, at, event }: { readonly seq: number; readonly at: number; readonly event: TaskEvent },
  isOperator: boolean,
): EventRow {
  const json = event as unknown as JsonObject;
  const { error, ...rest } = json;
  const isHiddenError = event.type === "status" && isObject(error) && !isOperator;
  return { seq, at, type: event.type, event: isHiddenError ? rest : json };
}
