import { type ErrorRecord, TASK_STATES, type Usage } from "../model/index.ts";
import type * as api from "./api.ts";
import {
  anyJson,
  anyObject,
  choice,
  duration,
  flag,
  integer,
  list,
  name,
  nullable,
  number,
  object,
  record,
  reference,
  text,
  time,
} from "./schema.ts";

const state = choice(TASK_STATES);
const usage = name<Usage>("Usage", record(number));
const dialect = { name: text, title: text };

export const dialectInfo = name("DialectInfo", object<api.DialectInfo>(dialect));

export const taskRow = name(
  "TaskRow",
  object<api.TaskRow>({
    id: text,
    alias: nullable(text),
    agent: text,
    contextId: text,
    state,
    title: text,
    text,
    tenant: text,
    principal: text,
    dialect: text,
    turns: integer,
    runs: integer,
    crashes: integer,
    events: integer,
    createdAt: time,
    stateAt: time,
    endedAt: nullable(time),
    cancelAt: nullable(time),
    isReply: flag,
    usage: nullable(usage),
  }),
);

export const taskPage = name(
  "TaskRowPage",
  object<api.TaskRowPage>({ tasks: list(taskRow), nextPageToken: text }),
);

export const taskCounts = name(
  "TaskCounts",
  object<api.TaskCounts>({ total: integer, byState: record(integer) }),
);

// ---- one task ----------------------------------------------------------------------------------------------------

const error = name(
  "ErrorRecord",
  object<ErrorRecord>(
    {
      name: text,
      message: text,
      code: text,
      stack: text,
      causes: list(reference<ErrorRecord>("ErrorRecord")),
    },
    "code",
    "stack",
    "causes",
  ),
);

const attempt = name(
  "DeliveryAttempt",
  object<api.DeliveryAttempt>({
    at: time,
    seq: integer,
    status: nullable(integer),
    latencyMs: duration,
    error: nullable(text),
    nextAt: nullable(time),
  }),
);

export const delivery = name(
  "Delivery",
  object<api.Delivery>({
    taskId: text,
    configId: text,
    agent: text,
    tenant: text,
    principal: text,
    url: text,
    dialect: text,
    events: text,
    state: choice(["waiting", "failing", "done", "dead"]),
    has: list(text),
    deliveredSeq: integer,
    setAt: time,
    nextAt: nullable(time),
    failures: integer,
    failingSinceAt: nullable(time),
    attempts: list(attempt),
  }),
);

export const deliveryPage = name(
  "DeliveryPage",
  object<api.DeliveryPage>({ deliveries: list(delivery), nextPageToken: text }),
);

const turn = name(
  "TurnRow",
  object<api.TurnRow>({
    turn: integer,
    seq: integer,
    at: time,
    text,
    binding: text,
    traceId: nullable(text),
    idempotencyKey: nullable(text),
  }),
);

const run = name(
  "RunRow",
  object<api.RunRow>({
    run: integer,
    turn: integer,
    seq: integer,
    startedAt: time,
    endedAt: nullable(time),
    queueMs: duration,
    outcome: nullable(text),
    error: nullable(error),
  }),
);

const step = name(
  "StepRow",
  object<api.StepRow>({
    run: integer,
    seq: integer,
    at: time,
    kind: text,
    name: text,
    threw: flag,
    called: nullable(text),
    withinMs: duration,
  }),
);

const entry = name(
  "TimelineRow",
  object<api.TimelineRow>(
    {
      seq: integer,
      lastSeq: integer,
      at: time,
      lastAt: time,
      what: text,
      text,
      run: integer,
      turn: integer,
      output: object<NonNullable<api.TimelineRow["output"]>>({ name: text, chunks: integer, bytes: integer }),
    },
    "output",
  ),
);

export const taskDetail = name(
  "TaskDetail",
  object<api.TaskDetail>({
    task: taskRow,
    why: text,
    phase: choice(["queue", "run", "input", "auth", "ended"]),
    phaseAt: time,
    times: object<api.TaskDetail["times"]>({
      queueMs: duration,
      runMs: duration,
      inputMs: duration,
      interruptedMs: duration,
    }),
    turns: list(turn),
    runs: list(run),
    steps: list(step),
    entries: list(entry),
    entriesOmitted: integer,
    isCompacted: flag,
    deliveries: list(delivery),
    input: nullable(anyObject),
  }),
);

// ---- events, frames, commands ------------------------------------------------------------------------------------

export const eventRow = name(
  "EventRow",
  object<api.EventRow>({ seq: integer, at: time, type: text, event: anyObject }),
);

export const eventPage = name(
  "EventPage",
  object<api.EventPage>({ events: list(eventRow), lastSeq: integer, compactedSeq: integer }),
);

export const dialectView = name(
  "DialectView",
  object<api.DialectView>({ ...dialect, task: anyJson, problem: nullable(text) }),
);

const frame = name("DialectFrame", object<api.DialectFrame>({ event: nullable(text), data: anyJson }));

export const framePage = name(
  "FramePage",
  object<api.FramePage>({
    frames: list(
      name("FrameRow", object<api.FrameRow>({ seq: integer, at: time, byDialect: record(nullable(frame)) })),
    ),
    lastSeq: integer,
  }),
);

export const curlCommand = name(
  "CurlCommand",
  object<api.CurlCommand>({
    ...dialect,
    binding: text,
    action: choice(["get", "subscribe", "send", "cancel"]),
    command: text,
  }),
);

// ---- conversations and the inbox ---------------------------------------------------------------------------------

const context = name(
  "ContextRow",
  object<api.ContextRow>({
    contextId: text,
    agent: text,
    tenant: text,
    principal: text,
    title: text,
    task: taskRow,
  }),
);

export const contextPage = name(
  "ContextPage",
  object<api.ContextPage>({ contexts: list(context), nextPageToken: text }),
);

export const contextDetail = name(
  "ContextDetail",
  object<api.ContextDetail>({
    contextId: text,
    tasks: list(
      name("ContextTask", object<api.ContextTask>({ row: taskRow, task: anyJson, reply: anyJson })),
    ),
    nextPageToken: text,
  }),
);

const question = name(
  "InboxRow",
  object<api.InboxRow>({
    task: taskRow,
    message: anyJson,
    asks: list(text),
    authorization: nullable(object<NonNullable<api.InboxRow["authorization"]>>({ name: text, scheme: text })),
    asksToRepeat: flag,
  }),
);

export const inboxPage = name(
  "InboxPage",
  object<api.InboxPage>({ tasks: list(question), nextPageToken: text, total: integer }),
);
