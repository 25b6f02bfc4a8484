/** The events of a run in the stream modes of the Agent Server, from the steps of the log. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { type Step, type TaskEvent, textOf } from "../model/index.ts";
import { accumulate, isAiChunk } from "./message-chunks.ts";
import { artifactMessageId, toAiChunk, toMessages } from "./plain-messages.ts";
import type { StreamMode } from "./run-body.ts";
import type { FoundRun } from "./run-records.ts";

export interface StreamEvent {
  /** The position: an event of the log may be several here. */
  readonly id: string;
  readonly event: string;
  readonly data: Json;
}

export interface ProjectionParts {
  readonly run: Pick<FoundRun, "id" | "agent" | "seq" | "request">;
  readonly modes: readonly StreamMode[];
  /** The messages before this task, for an agent that is no graph. */
  readonly earlier: readonly JsonObject[];
}

/** To be called with every step of the turn, in order: cumulative messages depend on what came before. */
export class StreamProjection {
  readonly #parts: ProjectionParts;
  readonly #modes: ReadonlySet<StreamMode>;
  readonly #isGraph: boolean;
  /** Of the old mode `messages`: the messages so far, and those that are complete. */
  readonly #partial = new Map<string, JsonObject>();
  readonly #complete = new Set<string>();
  /** How many messages of the task were there before this turn. */
  #known = 0;

  constructor(parts: ProjectionParts) {
    this.#parts = parts;
    this.#modes = new Set(parts.modes);
    this.#isGraph = parts.run.agent.graph !== undefined;
  }

  next(step: Step): readonly StreamEvent[] {
    const events = [...this.#project(step)];
    return events.map(([event, data], i) => ({ id: `${step.seq}.${i}`, event, data }));
  }

  *#project(step: Step): Generator<readonly [string, Json]> {
    const { event, task } = step;
    switch (event?.type) {
      case "started":
        yield ["metadata", { run_id: this.#parts.run.id, attempt: task.attempt - task.attemptsBefore }];
        if (!this.#isGraph && this.#modes.has("values")) yield ["values", this.#values(step)];
        return;
      case "chunk":
        return yield* this.#chunk(event);
      case "message":
        this.#known = toMessages(task).length - 1;
        return;
      case "artifact":
        if (!this.#isGraph) yield* this.#artifact(step, event);
        return;
      case "status":
      case "reply":
        return yield* this.#status(step, event);
    }
  }

  *#chunk({ mode, ns, data }: TaskEvent & { type: "chunk" }): Generator<readonly [string, Json]> {
    const name = (base: string): string => (ns ? [base, ...ns].join("|") : base);
    if (mode === "messages") {
      if (this.#modes.has("messages-tuple")) yield [name("messages"), data];
      if (this.#modes.has("messages")) yield* this.#partialMessages(data);
      return;
    }
    if (mode === "values" && this.#modes.has("messages")) yield* this.#completeMessages(data);
    if (this.#modes.has(mode as StreamMode)) yield [name(mode), data];
  }

  /** The old mode: each chunk is the message so far. */
  *#partialMessages(data: Json): Generator<readonly [string, Json]> {
    const [message, metadata] = Array.isArray(data) ? (data as readonly Json[]) : [];
    if (!isObject(message) || typeof message.id !== "string" || !isAiChunk(message)) return;
    const known = this.#partial.get(message.id);
    if (!known) yield ["messages/metadata", { [message.id]: { metadata: metadata ?? {} } }];
    const whole = known ? accumulate(known, message) : message;
    this.#partial.set(message.id, whole);
    yield ["messages/partial", [{ ...whole, type: "ai" }]];
  }

  *#completeMessages(values: Json): Generator<readonly [string, Json]> {
    const messages =
      isObject(values) && Array.isArray(values.messages) ? (values.messages as readonly Json[]) : [];
    const isNew = (one: Json): boolean =>
      isObject(one) && typeof one.id === "string" && !this.#complete.has(one.id);
    const added = messages.filter(isNew);
    for (const one of added) this.#complete.add((one as JsonObject).id as string);
    if (added.length > 0) yield ["messages/complete", added];
  }

  *#artifact(step: Step, event: TaskEvent & { type: "artifact" }): Generator<readonly [string, Json]> {
    const text = textOf(event.artifact.parts);
    if (text === "") return;
    const { name } = this.#parts.run.agent;
    const chunk = toAiChunk(artifactMessageId(step.taskId, event.artifact.artifactId), text);
    yield* this.#chunk({
      type: "chunk",
      mode: "messages",
      data: [chunk, { langgraph_node: name, run_id: this.#parts.run.id }],
    });
  }

  *#status(step: Step, event: TaskEvent & { type: "status" | "reply" }): Generator<readonly [string, Json]> {
    const { task } = step;
    const { state, message } = task.status;
    if (event.type === "status" && state === "working") return;
    if (state === "failed" || state === "rejected") {
      yield ["error", toError(task.status)];
      return;
    }
    if (this.#isGraph || state === "canceled") return;
    const { name } = this.#parts.run.agent;
    const said = toMessages(task).slice(this.#known + 1);
    if (this.#modes.has("updates") && said.length > 0) yield ["updates", { [name]: { messages: said } }];
    if (this.#modes.has("messages")) yield* this.#completeMessages({ messages: said });
    if (this.#modes.has("values")) yield ["values", this.#values(step)];
    if (state !== "input-required" && state !== "auth-required") return;
    const interrupt = { __interrupt__: [{ id: step.taskId, value: message ? textOf(message.parts) : null }] };
    for (const mode of ["updates", "values"] as const) if (this.#modes.has(mode)) yield [mode, interrupt];
  }

  #values = ({ task }: Step): JsonObject => ({ messages: [...this.#parts.earlier, ...toMessages(task)] });
}

/** What a failed run tells its caller; the cause is in the log of the server. */
export const toError = ({ state, message }: Step["task"]["status"]): JsonObject => ({
  error: state === "rejected" ? "InputRejected" : "AgentFailed",
  message: message ? textOf(message.parts) : "The agent failed",
});

/** Whether an event comes after the one that a client has seen last. */
export function isAfter(id: string, last: string | undefined): boolean {
  if (last === undefined) return true;
  const [seq = 0, nth = 0] = id.split(".").map(Number);
  const [lastSeq = 0, lastNth = 0] = last.split(".").map(Number);
  return seq > lastSeq || (seq === lastSeq && nth > lastNth);
}
