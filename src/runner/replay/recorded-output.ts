import { isDeepEqual, type JsonObject } from "../../lib/json.ts";
import {
  apply,
  BEGINNING,
  LIMITS,
  type Message,
  type Task,
  type TaskEvent,
  textAppendTarget,
  toTextAppend,
} from "../../model/index.ts";
import { contentSize } from "../output-check.ts";
import { ReplayMismatch } from "./recorded-steps.ts";

type ArtifactEvent = TaskEvent & { readonly type: "artifact" };

/** Metadata of an artifact that replaces an older one: the attempt that made it. */
const ATTEMPT = "dragoman.attempt";

const withAttempt = (event: ArtifactEvent, attempt: number): ArtifactEvent => ({
  ...event,
  metadata: { ...event.metadata, [ATTEMPT]: attempt },
});

/** A part of an artifact event that can be compared however its text was split: everything but the text, the text, the end. */
type OutputPiece = string | JsonObject;
const LAST: OutputPiece = { last: true };

function toPieces(event: ArtifactEvent): readonly OutputPiece[] {
  const { artifact, append, join, last } = event;
  const { [ATTEMPT]: _attempt, ...metadata } = event.metadata ?? {};
  const [part, ...more] = artifact.parts;
  const text = part?.kind === "text" && more.length === 0 ? part.text : "";
  const parts = text === "" ? artifact.parts : [{ ...part, text: "" }];
  const rest = { append, join, metadata, artifact: { ...artifact, parts } } as unknown as JsonObject;
  const isText = textAppendTarget({ ...event, last: false }) !== null;
  return [...(isText ? [] : [rest]), ...(text === "" ? [] : [text]), ...(last ? [LAST] : [])];
}

/** Removes the recorded pieces from the front of the emitted ones, as far as both go; null: they differ. */
function withoutRecorded(
  recorded: OutputPiece[],
  emitted: readonly OutputPiece[],
): readonly OutputPiece[] | null {
  const left = [...emitted];
  while (left.length > 0 && recorded.length > 0) {
    const [ours, theirs] = [left.shift() as OutputPiece, recorded.shift() as OutputPiece];
    if (isDeepEqual(ours, theirs)) continue;
    if (typeof ours !== "string" || typeof theirs !== "string") return null;
    if (theirs.startsWith(ours)) recorded.unshift(theirs.slice(ours.length));
    else if (ours.startsWith(theirs)) left.unshift(ours.slice(theirs.length));
    else return null;
  }
  return left;
}

/** Makes the first event of an artifact replace the one of an interrupted attempt, also where the agent only appends. */
function createReplacement({ turn, artifacts }: Task): (event: ArtifactEvent) => ArtifactEvent {
  // In a first turn all artifacts belong to it; in a later one the agent may append to those of earlier turns.
  const stale = new Set(turn > 1 ? [] : artifacts.map(one => one.artifactId));
  return event =>
    stale.delete(event.artifact.artifactId) && event.append
      ? { ...event, append: false, join: false }
      : event;
}

/** For an attempt that restarts the turn: its artifacts replace those of earlier attempts, and say so. */
export function createRestart(task: Task, attempt: number): (event: TaskEvent) => TaskEvent {
  const replace = createReplacement(task);
  return event => {
    if (event.type !== "artifact") return event;
    const replaced = replace(event);
    return replaced.append ? replaced : withAttempt(replaced, attempt);
  };
}

/** The output of earlier attempts, so that an attempt that resumes the turn records none of it twice. */
export class RecordedOutput {
  readonly #attempt: number;
  /** By artifact: the pieces that were not emitted again yet. */
  readonly #pieces = new Map<string, OutputPiece[]>();
  readonly #emitted = new Set<string>();
  #statuses: Message["parts"][] = [];
  /** The calls whose usage was recorded. */
  readonly #calls = new Set<string>();
  /** The task as it would be if this attempt were the only one. */
  #task: Task;
  #replace: (event: ArtifactEvent) => ArtifactEvent;

  constructor(task: Task, attempt: number) {
    this.#task = task;
    this.#attempt = attempt;
    this.#replace = createReplacement(task);
  }

  /** An attempt restarted the turn: earlier output does not count. */
  clear(task: Task): void {
    this.#pieces.clear();
    this.#statuses = [];
    this.#task = task;
    this.#replace = createReplacement(task);
  }

  add(event: TaskEvent): void {
    if (event.type === "status" && event.state === "working" && event.message)
      this.#statuses.push(event.message.parts);
    if (event.type === "usage" && event.of !== undefined) this.#calls.add(event.of);
    if (event.type !== "artifact") return;
    const { artifactId } = event.artifact;
    const isReplacement = event.metadata?.[ATTEMPT] !== undefined;
    const recorded = (!isReplacement && this.#pieces.get(artifactId)) || [];
    for (const piece of toPieces(event)) {
      const last = recorded.at(-1);
      if (typeof piece === "string" && typeof last === "string") recorded[recorded.length - 1] = last + piece;
      else recorded.push(piece);
    }
    this.#pieces.set(artifactId, recorded);
  }

  /** The part of an event that is new; null: nothing. `check` throws if the output must be the same as before. */
  toNewOutput(event: TaskEvent, check: (instead: string) => void): TaskEvent | null {
    if (event.type === "status") return this.#toNewStatus(event);
    if (event.type === "usage" && event.of !== undefined && this.#calls.delete(event.of)) return null;
    if (event.type !== "artifact" || this.#pieces.size === 0) return event;
    return this.#toNewArtifact(this.#replace(event), check);
  }

  #toNewArtifact(event: ArtifactEvent, check: (instead: string) => void): TaskEvent | null {
    const { artifactId } = event.artifact;
    this.#task = apply(this.#task, { seq: BEGINNING, at: 0, event }) as Task;
    this.#emitted.add(artifactId);
    const recorded = this.#pieces.get(artifactId);
    if (!recorded) return event;
    const left = withoutRecorded(recorded, toPieces(event));
    if (left === null) check(`it emitted something else for the artifact "${artifactId}"`);
    if (left === null || recorded.length === 0) this.#pieces.delete(artifactId);
    if (left === null) return this.#toReplacement(artifactId, event.last);
    const text = left.find(piece => typeof piece === "string") ?? "";
    return left.length === 0 ? null : { ...toTextAppend(artifactId, text), last: event.last };
  }

  /** Replaces artifacts of which this attempt emitted less than earlier ones. */
  leftovers(): readonly TaskEvent[] {
    return [...this.#pieces.keys()]
      .filter(id => this.#emitted.has(id))
      .map(id => this.#toReplacement(id, true));
  }

  /** Progress may differ; the same progress is not recorded twice. */
  #toNewStatus(event: TaskEvent & { readonly type: "status" }): TaskEvent | null {
    const recorded = this.#statuses.shift();
    if (event.state === "working" && recorded && isDeepEqual(recorded, event.message?.parts)) return null;
    this.#statuses = [];
    return event;
  }

  #toReplacement(artifactId: string, last: boolean): TaskEvent {
    const artifact = this.#task.artifacts.find(one => one.artifactId === artifactId);
    if (!artifact) throw new Error("an artifact that was emitted again is missing");
    const event = withAttempt(
      { type: "artifact", artifact, append: false, last, join: false },
      this.#attempt,
    );
    if (contentSize(event) <= LIMITS.eventBytesMax) return event;
    throw new ReplayMismatch(`The artifact "${artifactId}" has changed and is too large to be replaced`);
  }
}
