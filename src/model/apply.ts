import { type RecordedEvent, type TaskEvent, textAppendTarget, textOfEvent, toTextAppend } from "./event.ts";
import { nextState } from "./lifecycle.ts";
import { LIMITS } from "./limits.ts";
import type { Artifact, Message, Part } from "./message.ts";
import { withoutAnswered } from "./open-questions.ts";
import type { Task, TurnOutput } from "./task.ts";
import type { TaskState } from "./task-state.ts";
import { sumUsage } from "./usage.ts";

/** Whether the event may be recorded for the task as it stands. */
export function accepts(task: Task | null, event: TaskEvent): boolean {
  if (task?.cancel && isRuledOutByCancel(event)) return false;
  return nextState(task?.status.state ?? "none", event) !== null;
}

/** After a cancel no other end is possible, and no message of a caller. */
function isRuledOutByCancel(event: TaskEvent): boolean {
  if (event.type === "status") return event.state !== "canceled";
  return ["reply", "message", "answered", "incoming"].includes(event.type);
}

/**
 * Folds one event into a task: the only way to build one. Total: an event that the lifecycle refuses changes nothing.
 * The cost does not grow with the number of events: only the members that change are copied.
 */
export function apply(task: Task | null, recorded: RecordedEvent): Task | null {
  const { event, at } = recorded;
  if (!accepts(task, event)) return task;
  if (event.type === "created") return create(event, at);
  const current = task as Task;
  const state = nextState(current.status.state, event) as TaskState;
  switch (event.type) {
    case "message":
      return withTurn(withState(current, state, at), event);
    case "answered": {
      const answers = { ...current.answers, ...event.answers };
      return { ...withMessage(withoutAnswered(current, answers), event), answers };
    }
    case "incoming":
      return { ...withMessage(current, event), incoming: [...(current.incoming ?? []), event.message] };
    case "noted":
      return current.noted ? current : { ...current, noted: true };
    case "chunk":
      return current;
    case "started":
      return {
        ...withState(current, state, at),
        generation: nextGeneration(current),
        attempt: event.attempt,
        crashes: current.crashes + (current.status.state === "working" ? 1 : 0),
      };
    case "released":
      return withState(current, state, at);
    case "status":
      return {
        ...withStatusDetails(withStatus(current, state, at, event.message), event),
        generation: nextGeneration(current),
        shown: true,
      };
    case "artifact":
      return {
        ...(current.current
          ? withTurnArtifact(current, current.current, event.artifact.artifactId)
          : current),
        generation: nextGeneration(current),
        shown: true,
        artifacts: withArtifact(current.artifacts, event),
      };
    case "reply":
      // Only now is it known that the message belongs to a task.
      if (current.shown)
        return {
          ...withStatus(current, state, at, { ...event.message, taskId: current.id }),
          generation: nextGeneration(current),
        };
      return { ...withState(current, state, at), reply: event.message };
    case "shown":
      return { ...current, shown: true };
    case "cancel":
      return { ...current, cancel: event.reason === undefined ? { at } : { at, reason: event.reason } };
    case "usage":
      return {
        ...current,
        usage: sumUsage(current.usage, event.usage),
        ...(current.current && {
          current: { ...current.current, usage: sumUsage(current.current.usage, event.usage) },
        }),
      };
  }
}

/** Folds many events: the same as `apply` for each, but a row of text appends to one artifact is joined first. */
export function applyAll(task: Task | null, events: readonly RecordedEvent[]): Task | null {
  let folded = task;
  for (let i = 0; i < events.length; ) {
    const first = events[i] as RecordedEvent;
    const end = endOfText(events, i);
    const next = apply(folded, end > i + 1 ? joinText(events, i, end) : first);
    // The lifecycle may refuse the event: then there is no update.
    folded = next === folded || end === i + 1 ? next : withUpdates(next, end - i - 1);
    i = end;
  }
  return folded;
}

/** The generation after so many further updates. */
const nextGeneration = ({ generation }: Task, updates = 1): number | undefined =>
  generation === undefined ? undefined : generation + updates;

const withUpdates = (task: Task | null, updates: number): Task | null =>
  task && { ...task, generation: nextGeneration(task, updates) };

function endOfText(events: readonly RecordedEvent[], start: number): number {
  const target = textAppendTarget((events[start] as RecordedEvent).event);
  let end = start + 1;
  if (target)
    while (end < events.length && textAppendTarget((events[end] as RecordedEvent).event) === target) end++;
  return end;
}

function joinText(events: readonly RecordedEvent[], start: number, end: number): RecordedEvent {
  let text = "";
  for (let i = start; i < end; i++) text += textOfEvent((events[i] as RecordedEvent).event);
  const { seq, at, event } = events[start] as RecordedEvent;
  return { seq, at, event: toTextAppend(textAppendTarget(event) as string, text) };
}

function create(event: TaskEvent & { type: "created" }, at: number): Task {
  const { id, contextId, agent, origin, shown, quiet = false } = event;
  return {
    id,
    contextId,
    agent,
    origin,
    status: { state: "submitted", at },
    artifacts: [],
    history: [],
    ...(event.alias !== undefined && { alias: event.alias }),
    ...(event.alone && { alone: true as const }),
    ...(event.metadata && { metadata: event.metadata }),
    createdAt: at,
    generation: 1,
    turn: 0,
    attempt: 0,
    attemptsBefore: 0,
    crashes: 0,
    shown,
    quiet,
  };
}

const withState = (task: Task, state: TaskState, at: number): Task =>
  state === task.status.state ? task : withStatus(task, state, at);

/** The message of the status that is replaced moves to the history. */
function withStatus(task: Task, state: TaskState, at: number, message?: Message): Task {
  const replaced = task.status.asked ?? task.status.message;
  return {
    ...task,
    status: message ? { state, message, at } : { state, at },
    history: replaced ? appendHistory(task.history, replaced) : task.history,
  };
}

const withMessage = (task: Task, { message, thread }: Pick<Task, "thread"> & { message: Message }): Task => ({
  ...task,
  history: appendHistory(task.history, message),
  ...(thread !== undefined && { thread }),
});

/** Begins a turn, unless the message repeats the interrupted one. */
function withTurn(task: Task, event: TaskEvent & { type: "message" }): Task {
  const { message, thread, accepts, trace, hops, request } = event;
  if (event.again) return { ...withMessage(task, event), generation: nextGeneration(task) };
  const next = {
    ...(task.turn === 0 ? task : withoutTurn(task)),
    history: appendHistory(event.earlier ? [...task.history, ...event.earlier] : task.history, message),
    // The first message comes with the task: they are one update.
    generation: task.turn === 0 ? task.generation : nextGeneration(task),
    turn: task.turn + 1,
    ...(task.turn > 0 && { current: NO_OUTPUT }),
    message,
    attemptsBefore: task.attempt,
    crashes: 0,
  };
  if (!event.answers && thread === undefined && !accepts && !trace && !hops && !request) return next;
  return {
    ...next,
    ...(event.answers && { answers: { ...task.answers, ...event.answers } }),
    ...(thread !== undefined && { thread }),
    ...(accepts && { accepts }),
    ...(trace && { trace }),
    ...(hops && { hops }),
    ...(request && { request }),
  };
}

const NO_OUTPUT: TurnOutput = { artifacts: [] };

function withTurnArtifact(task: Task, current: TurnOutput, artifactId: string): Task {
  const { artifacts } = current;
  if (artifacts.includes(artifactId)) return task;
  return { ...task, current: { ...current, artifacts: [...artifacts, artifactId] } };
}

/** Removes the members that belong to the current turn. */
function withoutTurn({ answers, incoming, noted, accepts, trace, hops, request, ...rest }: Task): Task {
  return rest;
}

function withStatusDetails(task: Task, event: TaskEvent & { type: "status" }): Task {
  const { asks, auth, broken, again } = event;
  if (!asks && !auth && !broken && !again) return task;
  const details = {
    ...(asks && { asks }),
    ...(auth && { auth }),
    ...(broken && { broken }),
    ...(again && { again }),
  };
  const { answers, ...unanswered } = task;
  // New questions may have the ids of old ones.
  return { ...(asks ? unanswered : task), status: { ...task.status, ...details } };
}

function appendHistory(history: readonly Message[], message: Message): readonly Message[] {
  const start = Math.max(0, history.length + 1 - LIMITS.historyMessagesMax);
  return [...(start > 0 ? history.slice(start) : history), message];
}

/** The artifacts after an artifact event. */
export function withArtifact(
  artifacts: readonly Artifact[],
  event: TaskEvent & { type: "artifact" },
): readonly Artifact[] {
  const at = artifacts.findLastIndex(one => one.artifactId === event.artifact.artifactId);
  // D8: an append to an artifact that does not exist creates it.
  if (at === -1) return [...artifacts, event.artifact];
  const old = artifacts[at] as Artifact;
  return artifacts.with(at, event.append ? extend(old, event.artifact, event.join) : event.artifact);
}

function extend(old: Artifact, more: Artifact, join: boolean): Artifact {
  const parts = join ? joinParts(old.parts, more.parts) : [...old.parts, ...more.parts];
  const metadata = more.metadata ? { ...old.metadata, ...more.metadata } : old.metadata;
  return metadata ? { ...old, parts, metadata } : { ...old, parts };
}

function joinParts(old: readonly Part[], more: readonly Part[]): readonly Part[] {
  const last = old.at(-1);
  const first = more[0];
  if (last?.kind !== "text" || first?.kind !== "text") return [...old, ...more];
  const grown = old.with(-1, { ...last, text: last.text + first.text });
  return more.length === 1 ? grown : [...grown, ...more.slice(1)];
}
