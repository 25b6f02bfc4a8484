/** Streaming protocol v2: the events of a run as events of channels, from the same steps as the stream modes. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { isSettled, type Step } from "../model/index.ts";
import { MessageBlocks } from "./message-blocks.ts";
import type { ProtocolEvent } from "./protocol-event.ts";
import { CHECKPOINT_IDS, type StreamMode } from "./run-body.ts";
import { type ProjectionParts, type StreamEvent, StreamProjection } from "./stream-modes.ts";

/** The modes that a run of this protocol records. */
export const PROTOCOL_MODES: readonly StreamMode[] = [
  "values",
  "updates",
  "messages-tuple",
  "tools",
  "custom",
  "tasks",
  CHECKPOINT_IDS,
];

const INTERRUPT = "__interrupt__";

/** To be called with every step of the turn, in order. */
export class ProtocolProjection {
  readonly #inner: StreamProjection;
  readonly #graph: string;
  readonly #messages = new MessageBlocks();
  /** Interrupts come with `values` and with `updates`. */
  readonly #requested = new Set<string>();
  /** Nodes and subgraphs that have begun and not ended, by their namespace. */
  readonly #running = new Map<string, readonly string[]>();
  /** States whose checkpoint comes next: clients expect its id first. */
  readonly #held = new Map<string, ProtocolEvent>();
  readonly #hasCheckpoints: boolean;
  #isOver = false;

  constructor(parts: Omit<ProjectionParts, "modes">) {
    this.#inner = new StreamProjection({ ...parts, modes: PROTOCOL_MODES });
    this.#graph = parts.run.agent.name;
    const modes = parts.run.request?.kwargs.stream_mode;
    this.#hasCheckpoints = Array.isArray(modes) && modes.includes(CHECKPOINT_IDS);
  }

  *next(step: Step): Generator<ProtocolEvent> {
    for (const event of this.#inner.next(step)) yield* this.#convert(event);
    if (this.#isOver || !isSettled(step.task.status.state) || step.event?.type === "message") return;
    this.#isOver = true;
    yield* this.#release();
    yield* this.#messages.finish();
    const { state } = step.task.status;
    const waits = state === "input-required" || state === "auth-required";
    yield* this.#end(waits || state === "canceled" ? "interrupted" : "completed");
  }

  /** Of the run and of all that was running in it. */
  *#end(event: string, more: JsonObject = {}): Generator<ProtocolEvent> {
    for (const namespace of [...this.#running.values()].toReversed())
      yield this.#lifecycle(event, {}, namespace);
    this.#running.clear();
    yield this.#lifecycle(event, more);
  }

  /** The first event of a node or a subgraph tells that it has begun. */
  *#begin(namespace: readonly string[]): Generator<ProtocolEvent> {
    for (let depth = 1; depth <= namespace.length; depth++) {
      const part = namespace.slice(0, depth);
      const key = part.join("|");
      if (this.#running.has(key)) continue;
      this.#running.set(key, part);
      yield this.#lifecycle("started", {}, part);
    }
  }

  /** The result of a task ends the messages and subgraphs of its node. */
  *#task(namespace: readonly string[], data: Json): Generator<ProtocolEvent> {
    const isEnd = isObject(data) && "result" in data;
    const own = isEnd ? [...namespace, `${String(data.name)}:${String(data.id)}`] : [];
    if (isEnd) yield* this.#messages.finish(own);
    yield { method: "tasks", namespace, data };
    const key = own.join("|");
    if (!isEnd || !this.#running.delete(key)) return;
    for (const inner of [...this.#running.keys()])
      if (inner.startsWith(`${key}|`)) this.#running.delete(inner);
    const waits = Array.isArray(data.interrupts) && data.interrupts.length > 0;
    yield this.#lifecycle(waits ? "interrupted" : "completed", {}, own);
  }

  *#convert({ event, data }: StreamEvent): Generator<ProtocolEvent> {
    const [mode = "", ...namespace] = event.split("|");
    yield* this.#begin(namespace);
    // The checkpoint of an input has no state to come with.
    if (mode === CHECKPOINT_IDS && this.#held.has(namespace.join("|")))
      yield { method: "checkpoints", namespace, data };
    yield* this.#release(namespace);
    if (mode !== "messages") yield* this.#messages.finishGraph(namespace);
    switch (mode) {
      case "metadata":
        return yield this.#lifecycle("running");
      case "error":
        this.#isOver = true;
        yield* this.#messages.finish();
        return yield* this.#end("failed", isObject(data) ? { error: String(data.message) } : {});
      case "messages":
        return yield* this.#messages.add(namespace, data);
      case "values":
        return yield* this.#values(namespace, data);
      case "updates":
        return yield* this.#updates(namespace, data);
      case "custom":
        return yield {
          method: "custom",
          namespace,
          data: isObject(data) && "name" in data ? data : { payload: data },
        };
      case "tasks":
        return yield* this.#task(namespace, data);
      case CHECKPOINT_IDS:
        return;
      case "tools":
        return yield { method: "tools", namespace, data: toTool(data) };
      default:
        return yield { method: mode, namespace, data };
    }
  }

  #lifecycle = (event: string, more: JsonObject = {}, namespace: readonly string[] = []): ProtocolEvent => ({
    method: "lifecycle",
    namespace,
    data: { event, graph_name: namespace.at(-1)?.split(":")[0] ?? this.#graph, ...more },
  });

  *#values(namespace: readonly string[], data: Json): Generator<ProtocolEvent> {
    if (!isObject(data)) return;
    const { [INTERRUPT]: interrupts, ...values } = data;
    yield* this.#request(namespace, interrupts);
    if (interrupts !== undefined && Object.keys(values).length === 0) return;
    const event = { method: "values", namespace, data: values };
    if (this.#hasCheckpoints) this.#held.set(namespace.join("|"), event);
    else yield event;
  }

  /** Of one graph; undefined: all. */
  *#release(namespace?: readonly string[]): Generator<ProtocolEvent> {
    const key = namespace?.join("|");
    for (const [of, event] of this.#held) {
      if (key !== undefined && of !== key) continue;
      this.#held.delete(of);
      yield event;
    }
  }

  *#updates(namespace: readonly string[], data: Json): Generator<ProtocolEvent> {
    for (const [node, values] of Object.entries(isObject(data) ? data : {}))
      if (node === INTERRUPT) yield* this.#request(namespace, values);
      else yield { method: "updates", namespace, node, data: values };
  }

  *#request(namespace: readonly string[], interrupts: Json | undefined): Generator<ProtocolEvent> {
    for (const one of Array.isArray(interrupts) ? (interrupts as readonly Json[]) : []) {
      const id = isObject(one) ? String(one.id ?? "") : "";
      if (!isObject(one) || this.#requested.has(id)) continue;
      this.#requested.add(id);
      yield { method: "input.requested", namespace, data: { interrupt_id: id, payload: one.value ?? null } };
    }
  }
}

const TOOL_EVENTS: Readonly<Record<string, string>> = {
  on_tool_start: "tool-started",
  on_tool_event: "tool-output-delta",
  on_tool_end: "tool-finished",
  on_tool_error: "tool-error",
};

function toTool(data: Json): Json {
  if (!isObject(data)) return data;
  const event = TOOL_EVENTS[String(data.event)];
  if (event === undefined) return data;
  const base = { event, tool_call_id: String(data.toolCallId ?? "") };
  if (event === "tool-started")
    return { ...base, tool_name: String(data.name ?? ""), input: data.input ?? null };
  if (event === "tool-finished") return { ...base, output: data.output ?? null };
  if (event === "tool-error")
    return { ...base, message: isObject(data.error) ? String(data.error.message) : "The tool failed" };
  return { ...base, delta: typeof data.data === "string" ? data.data : JSON.stringify(data.data ?? "") };
}
