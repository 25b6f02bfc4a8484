/** What happened to a task and how long each part of it took, from its log alone. */

import { isObject } from "../../lib/json.ts";
import {
  apply,
  type ErrorRecord,
  isTerminal,
  type Message,
  type RecordedEvent,
  type StepRecord,
  type Task,
  type TaskEvent,
  textOf,
  type Usage,
} from "../../model/index.ts";
import { formatCount, formatSize } from "./text.ts";

export interface Timeline {
  readonly task: Task | null;
  /** Its events were compacted: what is told begins with how it stood then. */
  readonly isCompacted: boolean;
  readonly turns: readonly TimelineTurn[];
  readonly attempts: readonly TimelineAttempt[];
  readonly notes: readonly TimelineStep[];
  /** In milliseconds; what goes on is counted up to now. */
  readonly waits: Waits;
  readonly endedAt: number | undefined;
  /** What it is at now, and since when. */
  readonly phase: Phase;
  readonly since: number;
  readonly usage: Usage | undefined;
  readonly moments: readonly TimelineEntry[];
}
export type Phase = "queue" | "run" | "input" | "auth" | "ended";
export interface Waits {
  readonly queue: number;
  readonly run: number;
  /** For the caller: an answer, or a right to act for him. */
  readonly input: number;
  /** Cut off, with nobody at it. */
  readonly lost: number;
}
export interface TimelineTurn {
  readonly turn: number;
  readonly at: number;
  readonly text: string;
  readonly via: string;
  readonly traceId: string | undefined;
  readonly key: string | undefined;
}
export interface TimelineAttempt {
  readonly attempt: number;
  readonly turn: number;
  readonly startedAt: number;
  readonly queueMs: number;
  readonly endedAt: number | undefined;
  /** The state that it led to; "cut off": nothing is on record; "given back": the server stopped; undefined: it goes on. */
  readonly outcome: string | undefined;
  /** What the agent threw. */
  readonly error?: ErrorRecord;
}
export interface TimelineStep {
  readonly attempt: number;
  readonly at: number;
  readonly kind: StepRecord["kind"];
  readonly name: string;
  readonly threw: boolean;
  /** It was a call to an agent somewhere else: the task there, or "a message" if there is none. */
  readonly called?: string;
  /** Since the event before: it took no longer. */
  readonly withinMs: number;
}
/** One line of the story. */
export interface TimelineEntry {
  readonly at: number;
  readonly what: string;
  readonly text: string;
}

export function toTimeline(
  events: readonly RecordedEvent[],
  snapshot: Task | undefined,
  now: number,
): Timeline {
  const teller = new Teller(snapshot ?? null);
  for (const recorded of events) teller.hear(recorded);
  return teller.told(now);
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

class Teller {
  readonly #isCompacted: boolean;
  readonly #turns: TimelineTurn[] = [];
  readonly #attempts: Mutable<TimelineAttempt>[] = [];
  readonly #notes: TimelineStep[] = [];
  readonly #moments: TimelineEntry[] = [];
  readonly #waits = { queue: 0, run: 0, input: 0, lost: 0 };
  #task: Task | null;
  #phase: Phase = "queue";
  #since: number;
  #last: number;
  #stretch: { at: number; artifactId: string; pieces: number; bytes: number } | undefined;

  constructor(snapshot: Task | null) {
    this.#task = snapshot;
    this.#isCompacted = snapshot !== null;
    this.#since = this.#last = snapshot?.status.at ?? 0;
    if (!snapshot) return;
    if (isTerminal(snapshot.status.state)) this.#phase = "ended";
    this.#tell(snapshot.status.at, snapshot.status.state, "its events are no longer kept");
  }

  hear(recorded: RecordedEvent): void {
    const { event, at } = recorded;
    if (event.type !== "artifact") this.#closeStretch();
    this.#note(event, at);
    this.#task = apply(this.#task, recorded);
    this.#last = at;
  }

  told(now: number): Timeline {
    this.#closeStretch();
    const isOver = this.#phase === "ended";
    if (!isOver) this.#wait(now);
    return {
      task: this.#task,
      isCompacted: this.#isCompacted,
      turns: this.#turns,
      attempts: this.#attempts,
      notes: this.#notes,
      waits: this.#waits,
      endedAt: isOver ? this.#since : undefined,
      phase: this.#phase,
      since: this.#since,
      usage: this.#task?.usage,
      moments: this.#moments,
    };
  }

  #note(event: TaskEvent, at: number): void {
    switch (event.type) {
      case "created":
        this.#since = at;
        return;
      case "message":
        return this.#message(event, at);
      case "answered":
      case "incoming":
        return this.#tell(at, event.type === "incoming" ? "message" : "answer", shown(event.message));
      case "started":
        return this.#started(event.attempt, at);
      case "released":
        this.#end(at, "given back");
        this.#enter("queue", at);
        return this.#tell(at, "given back", "the server stopped; it is in line again");
      case "noted":
        return this.#noted(event.note, at);
      case "status":
        return this.#status(event, at);
      case "artifact":
        return this.#artifact(event, at);
      case "reply":
        this.#end(at, "completed");
        this.#enter("ended", at);
        return this.#tell(at, "replied", shown(event.message));
      case "cancel":
        return this.#tell(at, "cancel", event.reason ?? "a caller wants it to end");
      case "usage":
        return this.#tell(at, "usage", formatUsage(event.usage));
      case "shown":
        return;
    }
  }

  #message(event: TaskEvent & { readonly type: "message" }, at: number): void {
    const turn = this.#turns.length + 1;
    const { message, via = "jsonrpc", trace, key } = event;
    const text = textOf(message.parts);
    const traceId = trace?.traceparent.split("-")[1];
    this.#turns.push({ turn, at, text, via, traceId, key: key?.name });
    this.#enter("queue", at);
    this.#tell(at, "message", shown(message));
  }

  #started(attempt: number, at: number): void {
    const isCutOff = this.#phase === "run";
    if (isCutOff) this.#cutOff(at);
    const queueMs = isCutOff ? 0 : at - this.#since;
    this.#enter("run", at);
    const turn = Math.max(1, this.#turns.length);
    this.#attempts.push({ attempt, turn, startedAt: at, queueMs, endedAt: undefined, outcome: undefined });
    const why = isCutOff ? "the one before was cut off" : `after ${formatDuration(queueMs)} in line`;
    this.#tell(at, `run ${attempt}`, why);
  }

  /** Of a run that was cut off nobody knows how long it went on after its last word. */
  #cutOff(at: number): void {
    this.#waits.run += this.#last - this.#since;
    this.#waits.lost += at - this.#last;
    this.#end(this.#last, "cut off");
    this.#since = at;
  }

  #noted(note: StepRecord, at: number): void {
    const { kind, name, threw = false } = note;
    const attempt = this.#attempts.at(-1)?.attempt ?? 0;
    const called = calledIn(note);
    this.#notes.push({
      attempt,
      at,
      kind,
      name,
      threw,
      ...(called && { called }),
      withinMs: at - this.#last,
    });
    if (called) this.#tell(at, "call", `${name}: ${called}`);
    else if (kind === "step") this.#tell(at, "step", `${name}${threw ? " threw" : ""}`);
    if (kind === "sleep") this.#tell(at, "sleep", `until ${new Date(Number(note.value)).toISOString()}`);
  }

  #status(event: TaskEvent & { readonly type: "status" }, at: number): void {
    const { state, message, broken, error } = event;
    const words = message ? shown(message) : "";
    if (state !== "working") {
      this.#end(at, broken ? "broken" : state, error);
      this.#enter(PHASES[state] ?? "ended", at);
    }
    this.#tell(at, state === "working" ? "progress" : state, words);
  }

  /** What is streamed in many pieces is one line. */
  #artifact({ artifact }: TaskEvent & { readonly type: "artifact" }, at: number): void {
    const { artifactId, parts } = artifact;
    if (this.#stretch?.artifactId !== artifactId) this.#closeStretch();
    this.#stretch ??= { at, artifactId, pieces: 0, bytes: 0 };
    this.#stretch.pieces += 1;
    for (const part of parts)
      this.#stretch.bytes += part.kind === "text" ? part.text.length : JSON.stringify(part).length;
  }

  #closeStretch(): void {
    const stretch = this.#stretch;
    this.#stretch = undefined;
    if (!stretch) return;
    const { at, artifactId, pieces, bytes } = stretch;
    const howLong = pieces > 1 && this.#last > at ? ` in ${formatDuration(this.#last - at)}` : "";
    this.#tell(at, "artifact", `${artifactId}: ${formatCount(pieces, "piece")}, about ${formatSize(bytes)}${howLong}`);
  }

  #end(at: number, outcome: string, error?: ErrorRecord): void {
    const attempt = this.#attempts.at(-1);
    if (!attempt || attempt.outcome !== undefined) return;
    attempt.endedAt = at;
    attempt.outcome = outcome;
    if (error) attempt.error = error;
  }

  #enter(phase: Phase, at: number): void {
    this.#wait(at);
    this.#phase = phase;
    this.#since = at;
  }

  #wait(until: number): void {
    const part = PARTS[this.#phase];
    if (part) this.#waits[part] += Math.max(0, until - this.#since);
  }

  #tell(at: number, what: string, text: string): void {
    this.#moments.push({ at, what, text });
  }
}

/** What is on record of a message to an agent somewhere else. */
function calledIn({ kind, value }: StepRecord): string | undefined {
  if (kind !== "step" || !isObject(value) || !("taskId" in value && "eventId" in value && "reply" in value))
    return undefined;
  return typeof value.taskId === "string" ? `task ${value.taskId}` : "a message";
}

const PHASES: Readonly<Partial<Record<string, Phase>>> = {
  "input-required": "input",
  "auth-required": "auth",
};
const PARTS: Readonly<Record<Phase, keyof Waits | undefined>> = {
  queue: "queue",
  run: "run",
  input: "input",
  auth: "input",
  ended: undefined,
};

const shown = ({ parts }: Message): string => {
  const others = parts.filter(part => part.kind !== "text").map(part => part.kind);
  return [textOf(parts), ...(others.length > 0 ? [`(${others.join(", ")})`] : [])].join(" ").trim();
};

export const formatUsage = (usage: Usage): string =>
  Object.entries(usage)
    .map(([name, amount]) => `${name} ${amount.toLocaleString("en")}`)
    .join(", ");

/** `3 ms`, `1.2 s`, `2 min 5 s`, `3 h 10 min` */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 1_440
    ? `${Math.floor(minutes / 60)} h ${minutes % 60} min`
    : `${Math.floor(minutes / 1_440)} d ${Math.floor((minutes % 1_440) / 60)} h`;
}
