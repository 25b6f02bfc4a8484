import { isSame, type JsonObject } from "../../lib/json.ts";
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
import { weightOf } from "../output-check.ts";
import { Mismatch } from "./notes.ts";

type ArtifactEvent = TaskEvent & { readonly type: "artifact" };

/** Tells readers which attempt made an artifact that takes the place of an older one. */
const ATTEMPT = "dragoman.attempt";

const marked = (event: ArtifactEvent, attempt: number): ArtifactEvent => ({
  ...event,
  metadata: { ...event.metadata, [ATTEMPT]: attempt },
});

/** An artifact event in pieces that can be compared whatever its words were cut into: its form, its words, its end. */
type Piece = string | JsonObject;
const LAST: Piece = { last: true };

function toPieces(event: ArtifactEvent): readonly Piece[] {
  const { artifact, append, join, last } = event;
  const { [ATTEMPT]: _attempt, ...metadata } = event.metadata ?? {};
  const [part, ...more] = artifact.parts;
  const words = part?.kind === "text" && more.length === 0 ? part.text : "";
  const parts = words === "" ? artifact.parts : [{ ...part, text: "" }];
  const form = { append, join, metadata, artifact: { ...artifact, parts } } as unknown as JsonObject;
  const isWords = textAppendTarget({ ...event, last: false }) !== null;
  return [...(isWords ? [] : [form]), ...(words === "" ? [] : [words]), ...(last ? [LAST] : [])];
}

/** What is left of `said` when `known` is taken away from its front, as far as both go; null: they differ. */
function without(known: Piece[], said: readonly Piece[]): readonly Piece[] | null {
  const left = [...said];
  while (left.length > 0 && known.length > 0) {
    const [mine, theirs] = [left.shift() as Piece, known.shift() as Piece];
    if (isSame(mine, theirs)) continue;
    if (typeof mine !== "string" || typeof theirs !== "string") return null;
    if (theirs.startsWith(mine)) known.unshift(theirs.slice(mine.length));
    else if (mine.startsWith(theirs)) left.unshift(mine.slice(theirs.length));
    else return null;
  }
  return left;
}

/** Makes an attempt replace artifacts that a broken one left, also where its author only ever adds to them. */
function createRenewal({ turn, artifacts }: Task): (event: ArtifactEvent) => ArtifactEvent {
  // In a first turn all artifacts are of this turn; in a later one they may be there to be added to.
  const stale = new Set(turn > 1 ? [] : artifacts.map(one => one.artifactId));
  return event =>
    stale.delete(event.artifact.artifactId) && event.append
      ? { ...event, append: false, join: false }
      : event;
}

/** For an attempt that begins anew: its artifacts tell that they take the place of others. */
export function createAnew(task: Task, attempt: number): (event: TaskEvent) => TaskEvent {
  const renew = createRenewal(task);
  return event => {
    if (event.type !== "artifact") return event;
    const renewed = renew(event);
    return renewed.append ? renewed : marked(renewed, attempt);
  };
}

/** What the attempts before said, so that an attempt that resumes says nothing twice. */
export class Said {
  readonly #attempt: number;
  /** By artifact: what was not said again yet. */
  readonly #pieces = new Map<string, Piece[]>();
  readonly #again = new Set<string>();
  #statuses: Message["parts"][] = [];
  /** The task as it would stand if this attempt had been the only one. */
  #task: Task;
  #renew: (event: ArtifactEvent) => ArtifactEvent;

  constructor(task: Task, attempt: number) {
    this.#task = task;
    this.#attempt = attempt;
    this.#renew = createRenewal(task);
  }

  /** What was said before counts no longer: an attempt begins anew, with the task as it stands. */
  clear(task: Task): void {
    this.#pieces.clear();
    this.#statuses = [];
    this.#task = task;
    this.#renew = createRenewal(task);
  }

  add(event: TaskEvent): void {
    if (event.type === "status" && event.state === "working" && event.message)
      this.#statuses.push(event.message.parts);
    if (event.type !== "artifact") return;
    const { artifactId } = event.artifact;
    const isFresh = event.metadata?.[ATTEMPT] !== undefined;
    const known = (!isFresh && this.#pieces.get(artifactId)) || [];
    for (const piece of toPieces(event)) {
      const before = known.at(-1);
      if (typeof piece === "string" && typeof before === "string") known[known.length - 1] = before + piece;
      else known.push(piece);
    }
    this.#pieces.set(artifactId, known);
  }

  /** What of it is new; null: nothing. `check` throws if it must be the same as before. */
  rest(event: TaskEvent, check: (instead: string) => void): TaskEvent | null {
    if (event.type === "status") return this.#restOfStatus(event);
    if (event.type !== "artifact" || this.#pieces.size === 0) return event;
    return this.#restOfArtifact(this.#renew(event), check);
  }

  #restOfArtifact(event: ArtifactEvent, check: (instead: string) => void): TaskEvent | null {
    const { artifactId } = event.artifact;
    this.#task = apply(this.#task, { seq: BEGINNING, at: 0, event }) as Task;
    this.#again.add(artifactId);
    const known = this.#pieces.get(artifactId);
    if (!known) return event;
    const left = without(known, toPieces(event));
    if (left === null) check(`it said something else of the artifact "${artifactId}"`);
    if (left === null || known.length === 0) this.#pieces.delete(artifactId);
    if (left === null) return this.#fresh(artifactId, event.last);
    const words = left.find(piece => typeof piece === "string") ?? "";
    return left.length === 0 ? null : { ...toTextAppend(artifactId, words), last: event.last };
  }

  /** Artifacts of which this attempt said less than those before. */
  leftovers(): readonly TaskEvent[] {
    return [...this.#pieces.keys()].filter(id => this.#again.has(id)).map(id => this.#fresh(id, true));
  }

  /** Progress need not be the same; but the same is not told twice. */
  #restOfStatus(event: TaskEvent & { readonly type: "status" }): TaskEvent | null {
    const known = this.#statuses.shift();
    if (event.state === "working" && known && isSame(known, event.message?.parts)) return null;
    this.#statuses = [];
    return event;
  }

  #fresh(artifactId: string, last: boolean): TaskEvent {
    const artifact = this.#task.artifacts.find(one => one.artifactId === artifactId);
    if (!artifact) throw new Error("an artifact that was said again is gone");
    const event = marked({ type: "artifact", artifact, append: false, last, join: false }, this.#attempt);
    if (weightOf(event) <= LIMITS.eventBytesMax) return event;
    throw new Mismatch(`The artifact "${artifactId}" came out differently, and is too large to be replaced`);
  }
}
