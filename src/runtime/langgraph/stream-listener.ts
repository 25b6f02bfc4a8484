/** Converts the stream of a graph to output for the caller. */
import type { Json } from "../../lib/json.ts";
import { isRecord } from "../shared/options.ts";
import { type StreamChunk, taskIdsIn } from "./graph.ts";
import {
  type AnyMessage,
  findAdded,
  findMessages,
  isMessage,
  isMessageChunk,
  kindOf,
  messageText,
} from "./messages.ts";
import { SpeakerOrder } from "./speaker-order.ts";
import type { GraphOutput, TaskOutput } from "./task-output.ts";

export interface StreamListenerSettings {
  /** Text of these nodes only; undefined: of all. */
  readonly nodes: readonly string[] | undefined;
  readonly subgraphs: boolean;
  readonly tools: boolean;
  readonly progress: (node: string) => string | undefined;
  readonly custom: (chunk: unknown) => GraphOutput | undefined;
}

export const STREAM_MODES = ["messages", "tasks", "custom", "values"] as const;

/** A node that has started, or one that has ended (`result`). */
interface GraphTask {
  readonly id: string;
  readonly name: string;
  readonly input?: unknown;
  readonly result?: unknown;
}

export class StreamListener {
  readonly #settings: StreamListenerSettings;
  readonly #order = new SpeakerOrder(output => this.onOutput(output));
  readonly #record: (output: TaskOutput) => void;
  readonly #started = new Map<string, GraphTask>();
  /** The ids of messages that were streamed, and of artifacts that were written. */
  readonly #written = new Set<string>();
  /** The text of each message, and the tasks that it belongs to. */
  readonly #texts = new Map<string, { readonly path: readonly string[]; text: string }>();
  /** Called with output in its final order. */
  onOutput: (output: GraphOutput) => void = () => {};
  /** The graph has accepted its input. */
  hasStarted = false;
  /** The graph waits for an answer, or at a breakpoint. */
  isInterrupted = false;
  /** The last state. */
  values: unknown;

  /** `record` gets the output in the order of the stream. */
  constructor(settings: StreamListenerSettings, record: (output: TaskOutput) => void) {
    this.#settings = settings;
    this.#record = record;
  }

  /** Marks output of an earlier attempt, so that it is not written twice. */
  markWritten({ path, output }: TaskOutput): void {
    if ("data" in output && output.artifactId !== undefined) this.#written.add(output.artifactId);
    if (!("text" in output) || output.message === undefined) return;
    this.#written.add(output.message);
    this.#addText(path, output.message, output.text);
  }

  listen([ns, mode, payload]: StreamChunk): void {
    this.hasStarted = true;
    if (mode === "messages") this.#onMessage(ns, payload);
    else if (mode === "tasks") this.#onTask(ns, payload as GraphTask);
    else if (mode === "custom") this.#onCustom(ns, payload);
    else if (mode === "values") this.#onState(ns, payload);
  }

  #onMessage(ns: readonly string[], payload: unknown): void {
    const [message, about] = payload as readonly [unknown, unknown];
    if (!isMessage(message) || kindOf(message) !== "ai") return;
    const node = isRecord(about) ? about.langgraph_node : undefined;
    if (!this.#isIncluded(ns.length - 1, String(node))) return;
    const path = taskIdsIn(ns);
    const task = path.at(-1) as string;
    const id = message.id ?? task;
    this.#written.add(id);
    const text = messageText(message);
    if (isMessageChunk(message) || !this.#hasText(task, text)) this.#writeText(path, id, text);
  }

  #isIncluded(depth: number, node: string): boolean {
    const { nodes, subgraphs } = this.#settings;
    return (subgraphs || depth === 0) && (nodes === undefined || nodes.includes(node));
  }

  #writeText(path: readonly string[], message: string, text: string): void {
    if (text === "") return;
    this.#addText(path, message, text);
    this.#write(path, { text, message });
  }

  #addText(path: readonly string[], message: string, text: string): void {
    const known = this.#texts.get(message);
    if (known) known.text += text;
    else this.#texts.set(message, { path, text });
  }

  #write(path: readonly string[], output: GraphOutput): void {
    this.#record({ path, output });
    this.#order.write(path.at(-1), output);
  }

  /** LangGraph does not report which node has written it, so it is not ordered. */
  #onCustom(ns: readonly string[], payload: unknown): void {
    const custom = this.#settings.custom(payload);
    if (!custom) return;
    const output = "data" in custom ? { ...custom, data: toJson(custom.data) } : custom;
    this.#record({ path: taskIdsIn(ns), output });
    this.#order.write(undefined, output);
  }

  #onTask(ns: readonly string[], task: GraphTask): void {
    const path = [...taskIdsIn(ns), task.id];
    if (!("result" in task)) {
      this.#started.set(task.id, task);
      const status = this.#isIncluded(ns.length, task.name) ? this.#settings.progress(task.name) : undefined;
      if (status !== undefined) this.#write(path, { status });
      return;
    }
    const before = findMessages(messagesOf(this.#started.get(task.id)?.input));
    const messages = findAdded(before, findMessages(messagesOf(task.result)));
    for (const message of messages) this.#onResult(ns, path, task, message);
    this.#order.end(task.id);
    this.#started.delete(task.id);
  }

  /** A message in the result of a node. Instances of a message class were streamed before; plain objects were not. */
  #onResult(ns: readonly string[], path: readonly string[], task: GraphTask, message: AnyMessage): void {
    if (this.#settings.tools) for (const output of this.#toToolOutput(message)) this.#write(path, output);
    if (kindOf(message) !== "ai" || !this.#isIncluded(ns.length, task.name)) return;
    const text = messageText(message);
    if (message.id !== undefined && this.#written.has(message.id)) return;
    if (!this.#hasText(task.id, text))
      this.#writeText(path, message.id ?? `${task.id}-${this.#texts.size}`, text);
  }

  /** A message without an id gets one on the way: inside of one task it is recognized by its text. */
  #hasText(task: string, text: string): boolean {
    return [...this.#texts.values()].some(one => one.path.includes(task) && one.text === text);
  }

  *#toToolOutput(message: AnyMessage): Generator<GraphOutput> {
    for (const { id = "", name = "", args } of message.tool_calls ?? [])
      if (this.#isNew(`tool-call-${id}`))
        yield {
          name: "tool-call",
          artifactId: `tool-call-${id}`,
          data: { id, tool: name, args: toJson(args ?? {}) },
        };
    const id = message.tool_call_id;
    if (id === undefined || !this.#isNew(`tool-result-${id}`)) return;
    const { name = "", status = "success", content } = message;
    const data = { id, tool: name, status, result: toJson(content ?? null) };
    yield { name: "tool-result", artifactId: `tool-result-${id}`, data };
  }

  #isNew(artifactId: string): boolean {
    const isNew = !this.#written.has(artifactId);
    this.#written.add(artifactId);
    return isNew;
  }

  #onState(ns: readonly string[], payload: unknown): void {
    if (isRecord(payload) && Array.isArray(payload.__interrupt__)) this.isInterrupted = true;
    else if (ns.length === 0) this.values = payload;
  }
}

/** Values without a JSON form are left out. */
const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? "null") as Json;

const messagesOf = (value: unknown): unknown => (isRecord(value) ? value.messages : undefined);
