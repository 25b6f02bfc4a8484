/** The timeline of a task and the duration of its phases, computed from its log. */

import { formatCount, formatDuration, formatSize } from "../lib/format.ts";
import { isObject } from "../lib/json.ts";
import {
  type Artifact,
  apply,
  type ErrorRecord,
  isTerminal,
  type Message,
  type Part,
  type RecordedEvent,
  type StepRecord,
  type Task,
  type TaskEvent,
  textOf,
  type Usage,
} from "../model/index.ts";

export interface Timeline {
  readonly task: Task | null;
  /** Earlier events were deleted: the timeline begins with a snapshot. */
  readonly isCompacted: boolean;
  readonly turns: readonly TimelineTurn[];
  readonly attempts: readonly TimelineAttempt[];
  readonly steps: readonly TimelineStep[];
  readonly waits: PhaseTimes;
  readonly endedAt: number | undefined;
  /** The current phase, and when it began. */
  readonly phase: Phase;
  readonly since: number;
  readonly usage: Usage | undefined;
  readonly entries: readonly TimelineEntry[];
}

export type Phase = "queue" | "run" | "input" | "auth" | "ended";

/** In milliseconds; the current phase counts up to now. */
export interface PhaseTimes {
  readonly queue: number;
  readonly run: number;
  /** Waiting for the caller: for an answer or an authorization. */
  readonly input: number;
  /** Between the last event of an interrupted run and the start of the next run. */
  readonly lost: number;
}

export interface TimelineTurn {
  readonly turn: number;
  readonly seq: number;
  readonly at: number;
  readonly text: string;
  readonly via: string;
  readonly traceId: string | undefined;
  readonly key: string | undefined;
}

export interface TimelineAttempt {
  readonly attempt: number;
  readonly seq: number;
  readonly turn: number;
  readonly startedAt: number;
  readonly queueMs: number;
  readonly endedAt: number | undefined;
  /** A task state, or: "broken": the agent threw; "interrupted": no end was recorded; "released": the server stopped. undefined: running. */
  readonly outcome: string | undefined;
  /** Thrown by the agent. */
  readonly error?: ErrorRecord;
}

export interface TimelineStep {
  readonly attempt: number;
  readonly seq: number;
  readonly at: number;
  readonly kind: StepRecord["kind"];
  readonly name: string;
  readonly threw: boolean;
  /** The step called another agent: the task there, or "a message". */
  readonly called?: string;
  /** Since the previous event: the step took at most this long. */
  readonly withinMs: number;
}

export interface TimelineEntry {
  readonly at: number;
  /** Consecutive chunks are one entry: from its first event to its last one. */
  readonly seq: number;
  readonly lastSeq: number;
  readonly lastAt: number;
  readonly turn: number;
  /** 0: before the first run. */
  readonly attempt: number;
  readonly what: string;
  readonly text: string;
  /** Of an artifact. */
  readonly output?: TimelineOutput;
}

export interface TimelineOutput {
  readonly name: string;
  readonly chunks: number;
  readonly bytes: number;
}

export function toTimeline(
  events: readonly RecordedEvent[],
  snapshot: Task | undefined,
  now: number,
): Timeline {
  const builder = new TimelineBuilder(snapshot ?? null);
  for (const recorded of events) builder.add(recorded);
  return builder.build(now);
}

/** Consecutive chunks of one artifact. */
interface ChunksEntry {
  readonly at: number;
  readonly seq: number;
  readonly artifactId: string;
  readonly name: string;
  lastSeq: number;
  count: number;
  bytes: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Takes a log event by event. */
export class TimelineBuilder {
  readonly #isCompacted: boolean;
  readonly #turns: TimelineTurn[] = [];
  readonly #attempts: Mutable<TimelineAttempt>[] = [];
  readonly #steps: TimelineStep[] = [];
  readonly #entries: TimelineEntry[] = [];
  readonly #waits = { queue: 0, run: 0, input: 0, lost: 0 };
  #task: Task | null;
  #phase: Phase = "queue";
  #since: number;
  #lastEventAt: number;
  #seq = 0;
  /** Consecutive chunks of one artifact, which become one entry. */
  #chunks: ChunksEntry | undefined;
  /** Of artifacts, by their ids. */
  readonly #names = new Map<string, string>();

  constructor(snapshot: Task | null) {
    this.#task = snapshot;
    this.#isCompacted = snapshot !== null;
    this.#since = this.#lastEventAt = snapshot?.status.at ?? 0;
    if (!snapshot) return;
    if (isTerminal(snapshot.status.state)) this.#phase = "ended";
    this.#addEntry(snapshot.status.at, snapshot.status.state, "earlier events were deleted");
  }

  add(recorded: RecordedEvent): void {
    const { event, at } = recorded;
    if (event.type !== "artifact") this.#addChunksEntry();
    this.#seq = recorded.seq;
    this.#addEvent(event, at);
    this.#task = apply(this.#task, recorded);
    this.#lastEventAt = at;
  }

  build(now: number): Timeline {
    this.#addChunksEntry();
    const hasEnded = this.#phase === "ended";
    if (!hasEnded) this.#addPhaseTime(now);
    return {
      task: this.#task,
      isCompacted: this.#isCompacted,
      turns: this.#turns,
      attempts: this.#attempts,
      steps: this.#steps,
      waits: this.#waits,
      endedAt: hasEnded ? this.#since : undefined,
      phase: this.#phase,
      since: this.#since,
      usage: this.#task?.usage,
      entries: this.#entries,
    };
  }

  #addEvent(event: TaskEvent, at: number): void {
    switch (event.type) {
      case "created":
        this.#since = at;
        return;
      case "message":
        return this.#addMessage(event, at);
      case "answered":
        return this.#addEntry(at, "answer", formatMessage(event.message));
      case "incoming":
        return this.#addEntry(at, "message", formatMessage(event.message));
      case "started":
        return this.#startAttempt(event.attempt, at);
      case "released":
        this.#endAttempt(at, "released");
        this.#enterPhase("queue", at);
        return this.#addEntry(at, "released", "the server stopped; the task is queued again");
      case "noted":
        return this.#addStep(event.note, at);
      case "status":
        return this.#addStatus(event, at);
      case "artifact":
        return this.#addChunk(event, at);
      case "reply":
        this.#endAttempt(at, "completed");
        this.#enterPhase("ended", at);
        return this.#addEntry(at, "replied", formatMessage(event.message));
      case "cancel":
        return this.#addEntry(at, "cancel", event.reason ?? "requested by a caller");
      case "usage":
        return this.#addEntry(at, "usage", formatUsage(event.usage));
      case "chunk":
      case "shown":
        return;
    }
  }

  #addMessage({ message, via, trace, key }: TaskEvent & { readonly type: "message" }, at: number): void {
    const turn = this.#turns.length + 1;
    const text = textOf(message.parts);
    const traceId = trace?.traceparent.split("-")[1];
    this.#turns.push({ turn, seq: this.#seq, at, text, via: via ?? "jsonrpc", traceId, key: key?.name });
    this.#enterPhase("queue", at);
    this.#addEntry(at, "message", formatMessage(message));
  }

  #startAttempt(attempt: number, at: number): void {
    const isRestart = this.#phase === "run";
    if (isRestart) {
      // The log does not show how long an interrupted run continued after its last event.
      this.#waits.run += this.#lastEventAt - this.#since;
      this.#waits.lost += at - this.#lastEventAt;
      this.#endAttempt(this.#lastEventAt, "interrupted");
      this.#since = at;
    }
    const queueMs = isRestart ? 0 : at - this.#since;
    this.#enterPhase("run", at);
    const turn = Math.max(1, this.#turns.length);
    this.#attempts.push({
      attempt,
      seq: this.#seq,
      turn,
      startedAt: at,
      queueMs,
      endedAt: undefined,
      outcome: undefined,
    });
    const text = isRestart ? "the previous run was interrupted" : `queued for ${formatDuration(queueMs)}`;
    this.#addEntry(at, `run ${attempt}`, text);
  }

  #addStep(record: StepRecord, at: number): void {
    const { kind, name, threw = false } = record;
    const attempt = this.#attempts.at(-1)?.attempt ?? 0;
    const called = findCalledTask(record);
    const withinMs = at - this.#lastEventAt;
    this.#steps.push({ attempt, seq: this.#seq, at, kind, name, threw, ...(called && { called }), withinMs });
    if (called) this.#addEntry(at, "call", `${name}: ${called}`);
    else if (kind === "step") this.#addEntry(at, "step", `${name}${threw ? " threw" : ""}`);
    if (kind === "sleep")
      this.#addEntry(at, "sleep", `until ${new Date(Number(record.value)).toISOString()}`);
  }

  #addStatus({ state, message, broken, error }: TaskEvent & { readonly type: "status" }, at: number): void {
    if (state !== "working") {
      this.#endAttempt(at, broken ? "broken" : state, error);
      this.#enterPhase(WAITING_PHASES[state] ?? "ended", at);
    }
    this.#addEntry(at, state === "working" ? "progress" : state, message ? formatMessage(message) : "");
  }

  #addChunk({ artifact }: TaskEvent & { readonly type: "artifact" }, at: number): void {
    const { artifactId, parts } = artifact;
    if (this.#chunks?.artifactId !== artifactId) this.#addChunksEntry();
    if (!this.#chunks) {
      const name = this.#nameOf(artifact);
      this.#chunks = { at, seq: this.#seq, lastSeq: this.#seq, artifactId, name, count: 0, bytes: 0 };
    }
    this.#chunks.count += 1;
    this.#chunks.lastSeq = this.#seq;
    for (const part of parts) this.#chunks.bytes += contentBytes(part);
  }

  /** Later chunks of an artifact have no name: the first one has it. */
  #nameOf({ artifactId, name, parts }: Artifact): string {
    const found = name ?? parts.find(part => part.filename)?.filename;
    if (found !== undefined) this.#names.set(artifactId, found);
    return found ?? this.#names.get(artifactId) ?? artifactId;
  }

  #addChunksEntry(): void {
    const chunks = this.#chunks;
    this.#chunks = undefined;
    if (!chunks) return;
    const { at, seq, lastSeq, artifactId, name, count, bytes } = chunks;
    const duration =
      count > 1 && this.#lastEventAt > at ? ` in ${formatDuration(this.#lastEventAt - at)}` : "";
    const text = `${artifactId}: ${formatCount(count, "chunk")}, about ${formatSize(bytes)}${duration}`;
    const last = { seq: lastSeq, at: this.#lastEventAt };
    this.#addEntry(at, "artifact", text, seq, last, { name, chunks: count, bytes });
  }

  #endAttempt(at: number, outcome: string, error?: ErrorRecord): void {
    const attempt = this.#attempts.at(-1);
    if (!attempt || attempt.outcome !== undefined) return;
    attempt.endedAt = at;
    attempt.outcome = outcome;
    if (error) attempt.error = error;
  }

  #enterPhase(phase: Phase, at: number): void {
    this.#addPhaseTime(at);
    this.#phase = phase;
    this.#since = at;
  }

  #addPhaseTime(until: number): void {
    if (this.#phase === "ended") return;
    this.#waits[this.#phase === "auth" ? "input" : this.#phase] += Math.max(0, until - this.#since);
  }

  #addEntry(
    at: number,
    what: string,
    text: string,
    seq = this.#seq,
    last = { seq, at },
    output?: TimelineOutput,
  ): void {
    const turn = this.#turns.length;
    const attempt = this.#attempts.at(-1)?.attempt ?? 0;
    const place = { at, seq, lastSeq: last.seq, lastAt: last.at, turn, attempt };
    this.#entries.push({ ...place, what, text, ...(output && { output }) });
  }
}

/** The record of a step that called another agent. */
function findCalledTask({ kind, value }: StepRecord): string | undefined {
  if (kind !== "step" || !isObject(value) || !("taskId" in value && "eventId" in value && "reply" in value))
    return undefined;
  return typeof value.taskId === "string" ? `task ${value.taskId}` : "a message";
}

/** Of text and data about as many; of base64 three of four characters. */
function contentBytes(part: Part): number {
  if (part.kind === "text") return part.text.length;
  if (part.kind === "bytes") return Math.floor((part.bytes.length * 3) / 4);
  return part.kind === "url" ? part.url.length : JSON.stringify(part.data).length;
}

const WAITING_PHASES: Readonly<Partial<Record<string, Phase>>> = {
  "input-required": "input",
  "auth-required": "auth",
};

function formatMessage({ parts }: Message): string {
  const others = parts.filter(part => part.kind !== "text").map(part => part.kind);
  return [textOf(parts), ...(others.length > 0 ? [`(${others.join(", ")})`] : [])].join(" ").trim();
}

export const formatUsage = (usage: Usage): string =>
  Object.entries(usage)
    .map(([name, amount]) => `${name} ${amount.toLocaleString("en")}`)
    .join(", ");
