import { isTerminal, type Message, textOf, withArtifact } from "../model/index.ts";
import type { TaskUpdate } from "./api.ts";
import type { ClientDialect } from "./client-protocol.ts";
import { type ArtifactUpdate, Deduper, isPlainText } from "./dedupe.ts";
import type { ReceivedResponse, RemoteState, RemoteTask, StreamResponse } from "./types.ts";

export interface UpdateParts {
  readonly dialect: Pick<ClientDialect, "repeatsText">;
  /** The message that was sent: servers may leave it out of the history. */
  readonly sent?: Message;
}

/** The events of a stream, each with the task so far. */
export async function* toUpdates(
  responses: AsyncIterable<ReceivedResponse>,
  parts: UpdateParts,
): AsyncGenerator<TaskUpdate, void> {
  const folded = new FoldedTask(parts);
  for await (const { item } of responses) yield* folded.take(item);
  yield* folded.end();
}

type Status = Pick<RemoteTask, "state" | "message" | "at"> &
  Pick<Extract<StreamResponse, { kind: "status" }>, "metadata">;

/** Folds responses into a task. */
class FoldedTask {
  readonly #parts: UpdateParts;
  readonly #deduper = new Deduper();
  #task: RemoteTask;
  #isFirst = true;
  /** The status of a task before it has seen the message that continues it. */
  #stale: Status | undefined;

  constructor(parts: UpdateParts) {
    this.#parts = parts;
    const { sent } = parts;
    this.#task = { id: "", contextId: "", state: "submitted", artifacts: [], history: sent ? [sent] : [] };
  }

  *take(item: StreamResponse): Generator<TaskUpdate> {
    this.#stale = undefined;
    if (item.kind === "message") {
      const { message } = item;
      const contextId = message.contextId ?? "";
      this.#task = { ...this.#task, contextId, state: "completed", message };
      return yield { kind: "message", message, task: this.#task };
    }
    if (item.kind === "task") return yield* this.#snapshot(item.task);
    this.#task = { ...this.#task, id: item.taskId, contextId: item.contextId || this.#task.contextId };
    if (item.kind === "status") return yield* this.#status(item, true);
    for (const update of this.#deduper.takeArtifacts(item)) yield this.#artifact(update);
  }

  /** A stale status was the whole answer. */
  *end(): Generator<TaskUpdate> {
    if (this.#stale) yield* this.#status(this.#stale, false);
  }

  *#snapshot(task: RemoteTask): Generator<TaskUpdate> {
    const { id, contextId, history, state, message } = task;
    // The first response to a message that continues a task may be the task as it was before.
    const isBefore = this.#isFirst && this.#parts.sent?.taskId !== undefined && !isOver(state);
    const isStale = isBefore && isWaiting(state);
    const known = isStale && message ? [...history, message] : history;
    this.#task = { ...this.#task, id, contextId, history: this.#withSent(known) };
    for (const update of this.#deduper.takeArtifacts({ kind: "task", task })) {
      const changed = this.#artifact(update);
      if (!isBefore) yield changed;
    }
    if (isStale) this.#stale = task;
    else yield* this.#status(task, false);
  }

  #withSent(history: readonly Message[]): readonly Message[] {
    const { sent } = this.#parts;
    if (!sent || history.some(({ messageId }) => messageId === sent.messageId)) return history;
    return [...history, sent];
  }

  #artifact({ artifact, append, last, metadata }: ArtifactUpdate): TaskUpdate {
    const [first] = artifact.parts;
    // Streamed text continues the text before it.
    const join = append && first !== undefined && isPlainText(first);
    const event = { type: "artifact" as const, artifact, append, join, last };
    this.#task = { ...this.#task, artifacts: withArtifact(this.#task.artifacts, event) };
    return { kind: "artifact", artifact, append, last, ...(metadata && { metadata }), task: this.#task };
  }

  /** `isUpdate`: the message that it replaces is not yet in the history. */
  *#status({ state, message: said, at, metadata }: Status, isUpdate: boolean): Generator<TaskUpdate> {
    const { message: before, at: _, ...task } = this.#task;
    const message = this.#isRepetition(state, said) ? undefined : said;
    const isSame = state === task.state && (!message || isSameMessage(message, before));
    if (isSame && !this.#isFirst) return;
    this.#isFirst = false;
    const moved = isUpdate && before && !isSameMessage(before, message) ? [before] : [];
    this.#task = {
      ...task,
      state,
      history: [...task.history, ...moved],
      ...(message && { message }),
      ...(at !== undefined && { at }),
    };
    const details = { ...(message && { message }), ...(metadata && { metadata }) };
    yield { kind: "status", state, ...details, task: this.#task };
  }

  #isRepetition(state: RemoteTask["state"], message: Message | undefined): boolean {
    if (!this.#parts.dialect.repeatsText || !message || !(isOver(state) || isWaiting(state))) return false;
    return textOf(message.parts) === this.#deduper.artifactText();
  }
}

const isOver = (state: RemoteState): boolean => state !== "unknown" && isTerminal(state);
const isWaiting = (state: RemoteState): boolean => state === "input-required" || state === "auth-required";

const isSameMessage = (one: Message, other: Message | undefined): boolean =>
  other !== undefined && one.messageId === other.messageId && textOf(one.parts) === textOf(other.parts);
