/** What a graph does while it runs, and what of it is said. */
import type { Json } from "../../lib/json.ts";
import { isRecord } from "../shared/options.ts";
import { type Chunk, taskIdsIn } from "./graph.ts";
import { type AnyMessage, added, isMessage, isPiece, kindOf, messagesIn, wordsOf } from "./messages.ts";
import type { Heard, Words } from "./output-writer.ts";
import { Floor } from "./speaker-order.ts";

export interface ListenerSettings {
  /** Words of these nodes only; undefined: of all. */
  readonly nodes: readonly string[] | undefined;
  readonly subgraphs: boolean;
  readonly tools: boolean;
  readonly progress: (node: string) => string | undefined;
  readonly custom: (chunk: unknown) => Words | undefined;
}

export const STREAM_MODES = ["messages", "tasks", "custom", "values"] as const;

/** A node at work, or one that was. */
interface Task {
  readonly id: string;
  readonly name: string;
  readonly input?: unknown;
  readonly result?: unknown;
}

export class Listener {
  readonly #settings: ListenerSettings;
  readonly #floor = new Floor(words => this.onWords(words));
  readonly #hear: (heard: Heard) => void;
  readonly #begun = new Map<string, Task>();
  /** Messages that were heard as their words came, and artifacts that were told. */
  readonly #told = new Set<string>();
  /** The words of each message, and the tasks that they were said in. */
  readonly #spoken = new Map<string, { readonly path: readonly string[]; text: string }>();
  /** Words are to be said now. */
  onWords: (words: Words) => void = () => {};
  /** The graph has taken its input. */
  hasBegun = false;
  /** It stopped and wants to be told something, or just to be told to go on. */
  waits = false;
  /** The state as it was last told. */
  values: unknown;

  /** `hear`: whoever keeps what is said, as it comes. */
  constructor(settings: ListenerSettings, hear: (heard: Heard) => void) {
    this.#settings = settings;
    this.#hear = hear;
  }

  /** Said by an earlier attempt. */
  recall({ path, words }: Heard): void {
    if ("data" in words && words.artifactId !== undefined) this.#told.add(words.artifactId);
    if (!("text" in words) || words.message === undefined) return;
    this.#told.add(words.message);
    this.#note(path, words.message, words.text);
  }

  listen([ns, mode, payload]: Chunk): void {
    this.hasBegun = true;
    if (mode === "messages") this.#message(ns, payload);
    else if (mode === "tasks") this.#task(ns, payload as Task);
    else if (mode === "custom") this.#custom(ns, payload);
    else if (mode === "values") this.#state(ns, payload);
  }

  #message(ns: readonly string[], payload: unknown): void {
    const [message, about] = payload as readonly [unknown, unknown];
    if (!isMessage(message) || kindOf(message) !== "ai" || !this.#isHeard(ns, about)) return;
    const path = taskIdsIn(ns);
    const id = message.id ?? (path.at(-1) as string);
    this.#told.add(id);
    const text = wordsOf(message);
    if (isPiece(message) || !this.#wasSaid(path.at(-1) as string, text)) this.#speak(path, id, text);
  }

  #isHeard(ns: readonly string[], about: unknown): boolean {
    const node = isRecord(about) ? about.langgraph_node : undefined;
    return this.#isWanted(ns.length - 1, String(node));
  }

  #isWanted(depth: number, node: string): boolean {
    const { nodes, subgraphs } = this.#settings;
    return (subgraphs || depth === 0) && (nodes === undefined || nodes.includes(node));
  }

  #speak(path: readonly string[], message: string, text: string): void {
    if (text === "") return;
    this.#note(path, message, text);
    this.#say(path, { text, message });
  }

  #note(path: readonly string[], message: string, text: string): void {
    const spoken = this.#spoken.get(message);
    if (spoken) spoken.text += text;
    else this.#spoken.set(message, { path, text });
  }

  #say(path: readonly string[], words: Words): void {
    this.#hear({ path, words });
    this.#floor.say(path.at(-1), words);
  }

  /** Which node wrote it is not told. */
  #custom(ns: readonly string[], payload: unknown): void {
    const made = this.#settings.custom(payload);
    if (!made) return;
    const words = "data" in made ? { ...made, data: toJson(made.data) } : made;
    this.#hear({ path: taskIdsIn(ns), words });
    this.#floor.say(undefined, words);
  }

  #task(ns: readonly string[], task: Task): void {
    const path = [...taskIdsIn(ns), task.id];
    if (!("result" in task)) {
      this.#begun.set(task.id, task);
      const status = this.#isWanted(ns.length, task.name) ? this.#settings.progress(task.name) : undefined;
      if (status !== undefined) this.#say(path, { status });
      return;
    }
    const before = messagesIn(fieldOf(this.#begun.get(task.id)?.input));
    const messages = added(before, messagesIn(fieldOf(task.result)));
    for (const message of messages) this.#whole(ns, path, task, message);
    this.#floor.end(task.id);
    this.#begun.delete(task.id);
  }

  /** A message that a node gave back. If it is an object of a class, it was told before, as a message; plain ones are not. */
  #whole(ns: readonly string[], path: readonly string[], task: Task, message: AnyMessage): void {
    if (this.#settings.tools) for (const words of this.#toolsIn(message)) this.#say(path, words);
    if (kindOf(message) !== "ai" || !this.#isWanted(ns.length, task.name)) return;
    const text = wordsOf(message);
    if (message.id !== undefined && this.#told.has(message.id)) return;
    if (!this.#wasSaid(task.id, text))
      this.#speak(path, message.id ?? `${task.id}-${this.#spoken.size}`, text);
  }

  /** A message without an id gets one on the way, and then it looks like another: inside of one task its words tell. */
  #wasSaid(task: string, text: string): boolean {
    return [...this.#spoken.values()].some(one => one.path.includes(task) && one.text === text);
  }

  *#toolsIn(message: AnyMessage): Generator<Words> {
    for (const { id = "", name = "", args } of message.tool_calls ?? [])
      if (this.#isNews(`tool-call-${id}`))
        yield {
          name: "tool-call",
          artifactId: `tool-call-${id}`,
          data: { id, tool: name, args: toJson(args ?? {}) },
        };
    const id = message.tool_call_id;
    if (id === undefined || !this.#isNews(`tool-result-${id}`)) return;
    const { name = "", status = "success", content } = message;
    const data = { id, tool: name, status, result: toJson(content ?? null) };
    yield { name: "tool-result", artifactId: `tool-result-${id}`, data };
  }

  #isNews(artifactId: string): boolean {
    const isNews = !this.#told.has(artifactId);
    this.#told.add(artifactId);
    return isNews;
  }

  #state(ns: readonly string[], payload: unknown): void {
    if (isRecord(payload) && Array.isArray(payload.__interrupt__)) this.waits = true;
    else if (ns.length === 0) this.values = payload;
  }
}

/** As it will be kept: what JSON cannot say is left out. */
const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? "null") as Json;

const fieldOf = (value: unknown): unknown => (isRecord(value) ? value.messages : undefined);
