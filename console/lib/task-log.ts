import type { EventRow } from "../../src/admin/api.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import type { CredentialRequest } from "../../src/model/credential.ts";
import type { TaskEvent } from "../../src/model/event.ts";
import type { Artifact, Message, Part } from "../../src/model/message.ts";
import type { Usage } from "../../src/model/usage.ts";
import type { V1Message, V1Part, V1Task } from "./v1.ts";

/** What a conversation shows of a task, in the order of its log. */
export type Item =
  | { readonly kind: "user"; readonly seq: number; readonly at: number; readonly message: Message }
  | { readonly kind: "artifact"; readonly seq: number; readonly at: number; readonly piece: Piece }
  | { readonly kind: "steps"; readonly seq: number; readonly at: number; readonly names: string[] }
  | { readonly kind: "status"; readonly seq: number; readonly at: number; readonly status: Status }
  | { readonly kind: "reply"; readonly seq: number; readonly at: number; readonly message: Message }
  | { readonly kind: "note"; readonly seq: number; readonly at: number; readonly text: string };

/** The part of an artifact that was written in one turn. */
export interface Piece {
  readonly artifactId: string;
  name: string | undefined;
  description: string | undefined;
  parts: Part[];
  isGrowing: boolean;
  /** Grows with each change: parts of text are extended in place. */
  version: number;
}

export interface Status {
  readonly state: string;
  readonly message: Message | undefined;
  readonly asks: readonly string[];
  readonly auth: CredentialRequest | undefined;
  readonly asksToRepeat: boolean;
  readonly isBroken: boolean;
}

/** The fold of a task's events. It changes in place: a stream may have a thousand events per second. */
export class TaskLog {
  readonly items: Item[] = [];
  /** Whole artifacts, over all turns. */
  readonly artifacts = new Map<string, Piece>();
  readonly usage: Record<string, number> = {};
  readonly answered = new Set<string>();
  lastSeq = 0;
  state = "submitted";
  progress = "";
  createdAt = 0;
  lastAt = 0;
  runs = 0;
  isCanceling = false;
  #isRunning = false;
  /** What this turn has written of each artifact: no event may cost more because a turn is long. */
  readonly #ofTurn = new Map<string, Piece>();
  readonly #growing = new Set<Piece>();

  apply({ seq, at, event }: EventRow): void {
    if (seq <= this.lastSeq) return;
    this.lastSeq = seq;
    if (this.createdAt === 0) this.createdAt = at;
    this.lastAt = at;
    this.#fold(seq, at, event as unknown as TaskEvent);
  }

  #fold(seq: number, at: number, event: TaskEvent): void {
    switch (event.type) {
      case "message":
      case "answered":
      case "incoming":
        return this.#onMessage(seq, at, event);
      case "started":
        if (this.#isRunning)
          this.items.push({ kind: "note", seq, at, text: "Interrupted; continued by the next run" });
        this.#isRunning = true;
        this.runs += 1;
        this.state = "working";
        return;
      case "released":
        this.#isRunning = false;
        return;
      case "noted":
        return this.#onStep(seq, at, event.note);
      case "status":
        return this.#onStatus(seq, at, event);
      case "artifact":
        return this.#onArtifact(seq, at, event);
      case "reply":
        this.items.push({ kind: "reply", seq, at, message: event.message });
        this.state = "completed";
        return;
      case "cancel":
        this.isCanceling = true;
        return;
      case "usage":
        for (const [name, amount] of Object.entries(event.usage as Usage))
          this.usage[name] = (this.usage[name] ?? 0) + amount;
    }
  }

  #onMessage(
    seq: number,
    at: number,
    event: TaskEvent & { type: "message" | "answered" | "incoming" },
  ): void {
    this.items.push({ kind: "user", seq, at, message: event.message });
    const answers = "answers" in event ? event.answers : undefined;
    for (const id of Object.keys((answers ?? {}) as JsonObject)) this.answered.add(id);
    if (event.type !== "message") return;
    this.answered.clear();
    this.#ofTurn.clear();
    this.state = "submitted";
    this.progress = "";
    this.#isRunning = false;
  }

  #onStep(
    seq: number,
    at: number,
    note: { readonly kind: string; readonly name: string; readonly threw?: true },
  ): void {
    if (note.kind !== "step") return;
    const last = this.items.at(-1);
    const name = note.threw ? `${note.name} (threw)` : note.name;
    if (last?.kind === "steps") last.names.push(name);
    else this.items.push({ kind: "steps", seq, at, names: [name] });
  }

  #onStatus(seq: number, at: number, event: TaskEvent & { type: "status" }): void {
    this.state = event.state;
    const text = event.message ? textIn(event.message.parts) : "";
    if (event.state === "working") {
      this.progress = text;
      return;
    }
    this.#isRunning = false;
    this.isCanceling = false;
    this.progress = "";
    for (const piece of this.#growing) piece.isGrowing = false;
    this.#growing.clear();
    const status: Status = {
      state: event.state,
      message: event.message,
      asks: event.asks ?? [],
      auth: event.auth,
      asksToRepeat: event.again === true,
      isBroken: event.broken === true,
    };
    if (event.state !== "completed" || event.message) this.items.push({ kind: "status", seq, at, status });
  }

  #onArtifact(
    seq: number,
    at: number,
    { artifact, append, join, last }: TaskEvent & { type: "artifact" },
  ): void {
    const whole = this.artifacts.get(artifact.artifactId);
    if (whole && append) extend(whole, artifact.parts, join);
    else this.artifacts.set(artifact.artifactId, toPiece(artifact));
    const known = this.#ofTurn.get(artifact.artifactId);
    if (known && append) extend(known, artifact.parts, join);
    else if (known) Object.assign(known, toPiece(artifact), { version: known.version + 1 });
    const piece = known ?? this.#addPiece(seq, at, { ...artifact, name: artifact.name ?? whole?.name });
    piece.isGrowing = !last;
    if (last) this.#growing.delete(piece);
    else this.#growing.add(piece);
  }

  #addPiece(seq: number, at: number, artifact: PieceStart): Piece {
    const piece = toPiece(artifact);
    this.#ofTurn.set(artifact.artifactId, piece);
    this.items.push({ kind: "artifact", seq, at, piece });
    return piece;
  }

  /** The task as v1 shows it, for logs that retention has shortened or that are very long. */
  takeSnapshot(task: V1Task, seq: number, reply: V1Message | null): this {
    this.items.length = 0;
    this.artifacts.clear();
    this.lastSeq = seq;
    this.state = stateOfV1(task.status.state);
    const at = Date.parse(task.status.timestamp ?? "") || 0;
    this.lastAt = at;
    for (const message of task.history ?? [])
      this.items.push(
        message.role === "ROLE_USER"
          ? { kind: "user", seq: 0, at, message: fromV1Message(message) }
          : { kind: "status", seq: 0, at, status: { ...NO_STATUS, message: fromV1Message(message) } },
      );
    for (const artifact of task.artifacts ?? []) {
      const whole = { ...artifact, parts: artifact.parts.map(fromV1Part) } as Artifact;
      this.artifacts.set(artifact.artifactId, toPiece(whole));
      this.#addPiece(0, at, whole);
    }
    if (reply) this.items.push({ kind: "reply", seq: 0, at, message: fromV1Message(reply) });
    else if (this.state !== "completed" && this.state !== "working" && this.state !== "submitted")
      this.items.push({
        kind: "status",
        seq: 0,
        at,
        status: {
          ...NO_STATUS,
          state: this.state,
          message: task.status.message && fromV1Message(task.status.message),
        },
      });
    return this;
  }
}

const NO_STATUS: Status = {
  state: "working",
  message: undefined,
  asks: [],
  auth: undefined,
  asksToRepeat: false,
  isBroken: false,
};

/** An artifact, or its part in a later turn, whose name is that of the first one. */
type PieceStart = Pick<Artifact, "artifactId" | "description" | "parts"> & {
  readonly name?: string | undefined;
};

function toPiece({ artifactId, name, description, parts }: PieceStart): Piece {
  return {
    artifactId,
    name,
    description,
    parts: parts.map(part => ({ ...part })),
    isGrowing: false,
    version: 0,
  };
}

function extend(piece: Piece, parts: readonly Part[], join: boolean): void {
  piece.version += 1;
  const [first, ...rest] = parts;
  const at = piece.parts.length - 1;
  const last = piece.parts[at];
  if (join && first?.kind === "text" && last?.kind === "text") {
    piece.parts[at] = { ...last, text: last.text + first.text };
    piece.parts.push(...rest);
  } else piece.parts.push(...parts);
}

export function textIn(parts: readonly Part[]): string {
  let text = "";
  for (const part of parts) if (part.kind === "text") text += part.text;
  return text;
}

export const stateOfV1 = (state: string): string =>
  state
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");

export function fromV1Part({ text, raw, url, data, ...extras }: V1Part): Part {
  if (text !== undefined) return { kind: "text", text, ...extras };
  if (raw !== undefined) return { kind: "bytes", bytes: raw, ...extras };
  if (url !== undefined) return { kind: "url", url, ...extras };
  return { kind: "data", data: data ?? null, ...extras };
}

export const fromV1Message = ({ messageId, role, parts }: V1Message): Message => ({
  messageId,
  role: role === "ROLE_USER" ? "user" : "agent",
  parts: parts.map(fromV1Part),
});

export function toV1Part(part: Part): V1Part {
  const { kind, ...rest } = part;
  if (kind === "bytes") {
    const { bytes, ...extras } = part;
    return {
      raw: bytes,
      ...(extras.filename && { filename: extras.filename }),
      ...(extras.mediaType && { mediaType: extras.mediaType }),
    };
  }
  return rest as V1Part;
}
