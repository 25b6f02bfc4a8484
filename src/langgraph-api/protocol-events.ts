/** Streaming protocol v2: the events of a run as events of channels, from the same steps as the stream modes. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { isSettled, type Step } from "../model/index.ts";
import { MessageBlocks } from "./message-blocks.ts";
import type { ProtocolEvent } from "./protocol-event.ts";
import type { StreamMode } from "./run-body.ts";
import { type ProjectionParts, type StreamEvent, StreamProjection } from "./stream-modes.ts";

/** The modes that a run of this protocol records. */
export const PROTOCOL_MODES: readonly StreamMode[] = [
  "values",
  "updates",
  "messages-tuple",
  "tools",
  "custom",
  "tasks",
];

const INTERRUPT = "__interrupt__";

/** To be called with every step of the turn, in order. */
export class ProtocolProjection {
  readonly #inner: StreamProjection;
  readonly #graph: string;
  readonly #messages = new MessageBlocks();
  /** Interrupts come with `values` and with `updates`. */
  readonly #requested = new Set<string>();
  #isOver = false;

  constructor(parts: Omit<ProjectionParts, "modes">) {
    this.#inner = new StreamProjection({ ...parts, modes: PROTOCOL_MODES });
    this.#graph = parts.run.agent.name;
  }

  *next(step: Step): Generator<ProtocolEvent> {
    for (const event of this.#inner.next(step)) yield* this.#convert(event);
    if (this.#isOver || !isSettled(step.task.status.state) || step.event?.type === "message") return;
    this.#isOver = true;
    yield* this.#messages.finish();
    const { state } = step.task.status;
    const waits = state === "input-required" || state === "auth-required";
    yield this.#lifecycle(waits || state === "canceled" ? "interrupted" : "completed");
  }

  *#convert({ event, data }: StreamEvent): Generator<ProtocolEvent> {
    const [mode = "", ...namespace] = event.split("|");
    if (mode !== "messages") yield* this.#messages.finish(namespace);
    switch (mode) {
      case "metadata":
        return yield this.#lifecycle("running");
      case "error":
        this.#isOver = true;
        return yield this.#lifecycle("failed", isObject(data) ? { error: String(data.message) } : {});
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
      case "tools":
        return yield { method: "tools", namespace, data: toTool(data) };
      default:
        return yield { method: mode, namespace, data };
    }
  }

  #lifecycle = (event: string, more: JsonObject = {}): ProtocolEvent => ({
    method: "lifecycle",
    namespace: [],
    data: { event, graph_name: this.#graph, ...more },
  });

  *#values(namespace: readonly string[], data: Json): Generator<ProtocolEvent> {
    if (!isObject(data)) return;
    const { [INTERRUPT]: interrupts, ...values } = data;
    yield* this.#request(namespace, interrupts);
    if (interrupts === undefined || Object.keys(values).length > 0)
      yield { method: "values", namespace, data: values };
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
