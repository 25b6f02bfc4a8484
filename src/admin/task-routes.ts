import type { Wakeable } from "../lib/latch.ts";
import type { LoopBudget } from "../lib/loop-budget.ts";
import { isTerminal, LIMITS, type Seq, type Step, type TaskEvent } from "../model/index.ts";
import { LogReader } from "../operation/log-reader.ts";
import type {
  Bus,
  Catalog,
  Dialect,
  EndpointRequest,
  OwnedTask,
  Store,
  TaskChanges,
} from "../ports/index.ts";
import { encodeMessage } from "../protocol/a2a-v1/encode.ts";
import type { AdminCaller, AdminRoute } from "./access.ts";
import type { EventPage, FramePage, TaskRowPage } from "./api.ts";
import { fitsInCommand, hasTasks, toCurlCommands } from "./curl.ts";
import { deliveriesOf } from "./deliveries.ts";
import { toDialectView, toFrameRow, toTitled } from "./dialect-views.ts";
import { type StreamParts, type StreamSource, toEvent, toStreamResponse } from "./event-stream.ts";
import { findTask, findTasks, toPick, toScan, toTaskTest } from "./find-tasks.ts";
import {
  invalid,
  readInteger,
  readPageSize,
  readTaskFilter,
  readTaskId,
  readTaskToken,
  reply,
} from "./parameters.ts";
import { readTaskDetail, toEventRow } from "./task-detail.ts";
import { openTaskFeed } from "./task-feed.ts";
import { toTaskRow } from "./task-row.ts";

export interface TaskRouteParts extends StreamParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly changes: TaskChanges;
  readonly loop: LoopBudget;
  readonly catalog: Catalog;
  readonly dialects: readonly Dialect[];
  /** Of the dialects, by name, in the order in which they are shown. */
  readonly titles: Readonly<Record<string, string>>;
  readonly now: () => number;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
}

const EVENTS_DEFAULT = 500;
const EVENTS_MAX = 1_000;
const FRAMES_DEFAULT = 50;
const FRAMES_MAX = 200;

export const createTaskRoutes = (parts: TaskRouteParts): readonly AdminRoute[] => [
  ...createListRoutes(parts),
  ...createDetailRoutes(parts),
  ...createEventRoutes(parts),
];

function createListRoutes(parts: TaskRouteParts): readonly AdminRoute[] {
  const { overview } = parts.store;
  return [
    {
      verb: "GET",
      path: "/tasks",
      needs: "read",
      summary: "Tasks of all agents, the newest first",
      async serve({ query }, caller) {
        const filter = readTaskFilter(query, caller);
        const page = { size: readPageSize(query), after: readTaskToken(query) };
        const { tasks, next } = await findTasks(overview, toScan(filter), page, toPick(toTaskTest(filter)));
        const rows: TaskRowPage = { tasks: tasks.map(toTaskRow), nextPageToken: next ?? "" };
        return reply(rows);
      },
    },
    {
      verb: "GET",
      path: "/tasks/changes",
      needs: "read",
      summary: "A stream of the tasks that change",
      serve(call, caller) {
        const filter = readTaskFilter(call.query, caller);
        return toStreamResponse(parts, call, caller, latch =>
          openTaskFeed({ ...parts, overview }, filter, latch),
        );
      },
    },
  ];
}

function createDetailRoutes(parts: TaskRouteParts): readonly AdminRoute[] {
  const { store, catalog, dialects, titles } = parts;
  const find = (call: EndpointRequest, caller: AdminCaller): Promise<OwnedTask> =>
    findTask(store, readTaskId(call), caller);
  return [
    {
      verb: "GET",
      path: "/tasks/{id}",
      needs: "read",
      summary: "The timeline of a task: turns, runs, steps, waits, errors",
      async serve(call, caller) {
        const owned = await find(call, caller);
        const first = owned.task.history[0] ?? owned.task.message;
        return reply(
          await readTaskDetail(parts, owned, caller.isOperator, {
            deliveries: await deliveriesOf(store, owned.task),
            input: first ? encodeMessage(first) : null,
          }),
        );
      },
    },
    {
      verb: "GET",
      path: "/tasks/{id}/dialects",
      needs: "read",
      summary: "The whole task in each dialect",
      async serve(call, caller) {
        const { task } = await find(call, caller);
        const agent = catalog.find(task.agent);
        return reply({
          dialects: toTitled(dialects, titles)
            .filter(hasTasks)
            .map(one => toDialectView(one, task, agent)),
        });
      },
    },
    {
      verb: "GET",
      path: "/tasks/{id}/curl",
      needs: "read",
      summary: "curl commands for the task in each dialect",
      async serve(call, caller) {
        const { task } = await find(call, caller);
        const after = call.query.has("after") ? readAfter(call) : undefined;
        const served = Object.fromEntries(
          toTitled(dialects, titles)
            .filter(hasTasks)
            .map(({ name, title }) => [name, title]),
        );
        const target = {
          base: call.base(),
          agent: task.agent,
          taskId: task.id,
          parts: (task.history[0] ?? task.message)?.parts.filter(fitsInCommand) ?? [],
          newTaskId: String(parts.now()),
          after,
          needsToken: parts.authenticator.schemes.length > 0,
        };
        return reply({ commands: toCurlCommands(target, served) });
      },
    },
  ];
}

const readAfter = ({ query }: EndpointRequest): Seq =>
  readInteger(query, "after", 0, LIMITS.eventsMax) as Seq;

const isEvent = (step: Step): step is Step & { readonly event: TaskEvent } => step.event !== null;

function createEventRoutes(parts: TaskRouteParts): readonly AdminRoute[] {
  const { store, dialects, titles } = parts;
  const find = (call: EndpointRequest, caller: AdminCaller): Promise<OwnedTask> =>
    findTask(store, readTaskId(call), caller);

  /** One page of the log; the store may return fewer steps at a time. */
  async function readSteps({ scope, task }: OwnedTask, from: Seq, max: number): Promise<readonly Step[]> {
    const steps: Step[] = [];
    for (let after = from; steps.length < max; ) {
      const page = await store.log.read(scope, task.id, after, Math.min(max - steps.length, LIMITS.readMax));
      if (page.length === 0) break;
      steps.push(...page);
      after = page.at(-1)?.seq as Seq;
      await parts.loop.take(page.length);
    }
    return steps;
  }

  return [
    {
      verb: "GET",
      path: "/tasks/{id}/events",
      needs: "read",
      summary: "Events of the log of a task",
      async serve(call, caller) {
        const owned = await find(call, caller);
        const max = readInteger(call.query, "max", EVENTS_DEFAULT, EVENTS_MAX);
        const steps = await readSteps(owned, readAfter(call), max);
        const events = steps.filter(isEvent).map(step => toEventRow(step, caller.isOperator));
        const page: EventPage = { events, lastSeq: owned.seq, compactedSeq: owned.since };
        return reply(page);
      },
    },
    {
      verb: "GET",
      path: "/tasks/{id}/events/stream",
      needs: "read",
      summary: "A stream of the events of a task, from any event on",
      async serve(call, caller) {
        const owned = await find(call, caller);
        const after = readLastEventId(call) ?? readAfter(call);
        return toStreamResponse(parts, call, caller, latch =>
          openEventTail(parts, owned, after, caller.isOperator, latch),
        );
      },
    },
    {
      verb: "GET",
      path: "/tasks/{id}/frames",
      needs: "read",
      summary: "The events of a task as the streams of each dialect send them",
      async serve(call, caller) {
        const owned = await find(call, caller);
        const wanted = call.query.getAll("dialect");
        const shown = toTitled(dialects, titles)
          .filter(hasTasks)
          .filter(({ name }) => wanted.length === 0 || wanted.includes(name));
        if (shown.length === 0)
          throw invalid("dialect", `must be one of ${dialects.map(one => one.name).join(", ")}`);
        const max = readInteger(call.query, "max", FRAMES_DEFAULT, FRAMES_MAX);
        const steps = await readSteps(owned, readAfter(call), max);
        const page: FramePage = { frames: steps.map(step => toFrameRow(step, shown)), lastSeq: owned.seq };
        return reply(page);
      },
    },
  ];
}

function readLastEventId({ headers }: EndpointRequest): Seq | undefined {
  const text = headers["last-event-id"];
  return text !== undefined && /^\d{1,15}$/.test(text) ? (Number(text) as Seq) : undefined;
}

/** The events after this one, and new ones until the task has ended. */
function openEventTail(
  parts: TaskRouteParts,
  { scope, task, seq: end }: OwnedTask,
  after: Seq,
  isOperator: boolean,
  latch: Wakeable,
): StreamSource {
  const reader = new LogReader(parts, { scope, taskId: task.id, after, until: "terminal" });
  reader.setListener(latch);
  // After the last event of an ended task there is nothing to wait for.
  let isEnding = isTerminal(task.status.state) && after >= end;
  let isOver = false;
  return {
    async read() {
      for (;;) {
        if (isOver) return null;
        if (isEnding) {
          isOver = true;
          return toEvent({ reason: "The task has ended" }, { event: "end" });
        }
        const batch = await reader.take();
        isEnding = reader.isOver;
        const text = batch?.steps.map(step => toText(step, isOperator)).join("") ?? "";
        if (text !== "" || (!batch && !isEnding)) return text;
      }
    },
    close: () => reader.close(),
  };
}

const toText = (step: Step, isOperator: boolean): string =>
  isEvent(step) ? toEvent(toEventRow(step, isOperator), { id: step.seq }) : "";
