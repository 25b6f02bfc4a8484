import { type RecordedEvent, type TaskEvent, textAppendTarget, textOfEvent, toTextAppend } from "./event.ts";
import { next } from "./lifecycle.ts";
import { LIMITS } from "./limits.ts";
import type { Artifact, Message, Part } from "./message.ts";
import { sumUsage, type Task, type TaskState } from "./task.ts";

/** Whether the event may be recorded for the task as it stands. */
export function accepts(task: Task | null, event: TaskEvent): boolean {
  if (task?.cancel && isOvertaken(event)) return false;
  return next(task?.status.state ?? "none", event) !== null;
}

/** What a recorded cancel rules out: any other end, and new words of callers. */
function isOvertaken(event: TaskEvent): boolean {
  if (event.type === "status") return event.state !== "canceled";
  return ["reply", "message", "answered", "incoming"].includes(event.type);
}

/**
 * Folds one event into a task: the only way to build one. Total: an event that the lifecycle refuses changes nothing.
 * Costs the same for the last chunk as for the first: nothing is cloned but what changes.
 */
export function apply(task: Task | null, recorded: RecordedEvent): Task | null {
  const { event, at } = recorded;
  if (!accepts(task, event)) return task;
  if (event.type === "created") return create(event, at);
  const current = task as Task;
  const state = next(current.status.state, event) as TaskState;
  switch (event.type) {
    case "message":
      return begun(moved(current, state, at), event);
    case "answered": {
      const answers = { ...current.answers, ...event.answers };
      return { ...heard(current, event), answers };
    }
    case "incoming":
      return { ...heard(current, event), incoming: [...(current.incoming ?? []), event.message] };
    case "noted":
      return current.noted ? current : { ...current, noted: true };
    case "started":
      return {
        ...moved(current, state, at),
        attempt: event.attempt,
        crashes: current.crashes + (current.status.state === "working" ? 1 : 0),
      };
    case "released":
      return moved(current, state, at);
    case "status":
      return { ...reported(moved(current, state, at, event.message, true), event), shown: true };
    case "artifact":
      return { ...current, shown: true, artifacts: withArtifact(current.artifacts, event) };
    case "reply":
      if (current.shown) return moved(current, state, at, event.message, true);
      return { ...moved(current, state, at), reply: event.message };
    case "shown":
      return { ...current, shown: true };
    case "cancel":
      return { ...current, cancel: event.reason === undefined ? { at } : { at, reason: event.reason } };
    case "usage":
      return { ...current, usage: sumUsage(current.usage, event.usage) };
  }
}

/** Folds many events: the same as `apply` one by one, but a burst of streamed words is put together only once. */
export function applyAll(task: Task | null, events: readonly RecordedEvent[]): Task | null {
  let folded = task;
  for (let i = 0; i < events.length; ) {
    const first = events[i] as RecordedEvent;
    const end = endOfWords(events, i);
    folded = apply(folded, end > i + 1 ? asOne(events, i, end) : first);
    i = end;
  }
  return folded;
}

/** Where a row of words for one artifact ends that begins here. */
function endOfWords(events: readonly RecordedEvent[], start: number): number {
  const first = textAppendTarget((events[start] as RecordedEvent).event);
  let end = start + 1;
  if (first)
    while (end < events.length && textAppendTarget((events[end] as RecordedEvent).event) === first) end++;
  return end;
}

function asOne(events: readonly RecordedEvent[], start: number, end: number): RecordedEvent {
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
    turn: 0,
    attempt: 0,
    attemptsBefore: 0,
    crashes: 0,
    shown,
    quiet,
  };
}

/** A new status; the message of the one it replaces, if a reader may still want it, goes to the history. */
function moved(task: Task, state: TaskState, at: number, message?: Message, reported = false): Task {
  if (state === task.status.state && !reported) return task;
  const old = task.status.message;
  return {
    ...task,
    status: message ? { state, message, at } : { state, at },
    history: old ? remember(task.history, old) : task.history,
  };
}

const heard = (task: Task, { message, thread }: Pick<Task, "thread"> & { message: Message }): Task => ({
  ...task,
  history: remember(task.history, message),
  ...(thread !== undefined && { thread }),
});

/** A new turn, unless the message lets the old one be run again. */
function begun(task: Task, event: TaskEvent & { type: "message" }): Task {
  const { message, thread, accepts, trace, hops } = event;
  if (event.again) return heard(task, event);
  const next = {
    ...(task.turn === 0 ? task : withoutTurn(task)),
    history: remember(task.history, message),
    turn: task.turn + 1,
    message,
    attemptsBefore: task.attempt,
    crashes: 0,
  };
  if (!event.answers && thread === undefined && !accepts && !trace && !hops) return next;
  const answers = event.answers && { ...task.answers, ...event.answers };
  const said = { ...(thread !== undefined && { thread }), ...(accepts && { accepts }) };
  return { ...next, ...(answers && { answers }), ...said, ...(trace && { trace }), ...(hops && { hops }) };
}

/** What belonged to the turn before alone is gone. */
function withoutTurn({ answers, incoming, noted, accepts, trace, hops, ...rest }: Task): Task {
  return rest;
}

/** What a status says besides its state. */
function reported(task: Task, event: TaskEvent & { type: "status" }): Task {
  const { asks, auth, broken, again } = event;
  if (!asks && !auth && !broken && !again) return task;
  const asked = { ...(asks && { asks }), ...(auth && { auth }) };
  const more = { ...asked, ...(broken && { broken }), ...(again && { again }) };
  const { answers, ...unanswered } = task;
  // New questions may have the ids of old ones.
  return { ...(asks ? unanswered : task), status: { ...task.status, ...more } };
}

function remember(history: readonly Message[], message: Message): readonly Message[] {
  const start = Math.max(0, history.length + 1 - LIMITS.historyMessagesMax);
  return [...(start > 0 ? history.slice(start) : history), message];
}

/** The artifacts after one more event of them. */
export function withArtifact(
  artifacts: readonly Artifact[],
  event: TaskEvent & { type: "artifact" },
): readonly Artifact[] {
  const at = artifacts.findLastIndex(one => one.artifactId === event.artifact.artifactId);
  // D8: an append to an artifact that does not exist creates it.
  if (at === -1) return [...artifacts, event.artifact];
  const old = artifacts[at] as Artifact;
  return artifacts.with(at, event.append ? extended(old, event.artifact, event.join) : event.artifact);
}

function extended(old: Artifact, more: Artifact, join: boolean): Artifact {
  const parts = join ? joined(old.parts, more.parts) : [...old.parts, ...more.parts];
  const metadata = more.metadata ? { ...old.metadata, ...more.metadata } : old.metadata;
  return metadata ? { ...old, parts, metadata } : { ...old, parts };
}

function joined(old: readonly Part[], more: readonly Part[]): readonly Part[] {
  const last = old.at(-1);
  const first = more[0];
  if (last?.kind !== "text" || first?.kind !== "text") return [...old, ...more];
  const grown = old.with(-1, { ...last, text: last.text + first.text });
  return more.length === 1 ? grown : [...grown, ...more.slice(1)];
}
