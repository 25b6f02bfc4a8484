/** Creates the events of one run, and remembers those that were created but not yielded. */
import type {
  ArtifactContent,
  AuthRequest,
  Content,
  DataOptions,
  FileContent,
  Questions,
  TextOptions,
} from "../../agent/content.ts";
import type { Message, Usage } from "../../model/index.ts";
import type { AgentEvent, Turn } from "../../ports/index.ts";
import { describeValue } from "../shared/describe-value.ts";
import { TextArtifacts, WholeArtifacts } from "./artifacts.ts";
import { toAuthPrompt } from "./authorization.ts";
import { checkText, toParts, toQuestions } from "./content.ts";

type State = (AgentEvent & { type: "status" })["state"];
type Counters = Readonly<Record<string, number | undefined>>;

/** The event of an empty text, and the result of `ctx.usage`: yielding it has no effect. */
export const NO_EVENT: AgentEvent = Object.freeze({ type: "usage", usage: Object.freeze({}) });

/** Enough for a warning about events that are not yielded. */
const UNYIELDED_MAX = 100;

export interface UsageListener {
  /** Usage takes effect without being yielded. */
  onUsage(): void;
}

export class EventBuilder {
  readonly #turn: Turn;
  readonly #listener: UsageListener;
  // Created on first use: a run may wait for hours, and most use one kind of artifact.
  #texts: TextArtifacts | undefined;
  #wholes: WholeArtifacts | undefined;
  #usage: Record<string, number> | undefined;
  #callUsage: AgentEvent[] | undefined;
  /** Most events are yielded before the next one is created: a field for the first, a map for the others. */
  #unyielded: AgentEvent | undefined;
  #unyieldedMethod = "";
  #othersUnyielded: Map<unknown, string> | undefined;

  constructor(turn: Turn, listener: UsageListener) {
    this.#turn = turn;
    this.#listener = listener;
  }

  #textArtifacts(): TextArtifacts {
    this.#texts ??= new TextArtifacts(this.#turn);
    return this.#texts;
  }

  #wholeArtifacts(): WholeArtifacts {
    this.#wholes ??= new WholeArtifacts(this.#turn);
    return this.#wholes;
  }

  /** The event of a yielded string. */
  chunk(text: string, last: boolean): AgentEvent {
    return text === "" ? NO_EVENT : this.#textArtifacts().chunk(text, last);
  }

  reply(content: Content): AgentEvent {
    return { type: "reply", message: this.#message(content, false) };
  }

  text(text: string, options: TextOptions | undefined): AgentEvent {
    if (checkText(text) === "" && !options?.last) return NO_EVENT;
    const texts = this.#textArtifacts();
    return options ? texts.named(text, options) : texts.chunk(text, false);
  }

  data(data: unknown, options: DataOptions): AgentEvent {
    return this.#wholeArtifacts().data(data, options);
  }

  file(file: FileContent): AgentEvent {
    return this.#wholeArtifacts().file(file);
  }

  artifact(artifact: ArtifactContent): AgentEvent {
    return this.#wholeArtifacts().any(artifact);
  }

  status(state: State, content: Content): AgentEvent {
    return { type: "status", state, message: this.#message(content, true) };
  }

  askAll(questions: Questions): AgentEvent {
    const parts = toQuestions(questions);
    const asks = Object.keys(questions);
    return { type: "status", state: "input-required", message: this.#message(parts, true), asks };
  }

  askAuth(request: AuthRequest): AgentEvent {
    const { id: taskId, contextId } = this.#turn.task;
    const messageId = this.#turn.newId();
    const { auth, parts } = toAuthPrompt(request, this.#turn, messageId);
    const message: Message = { messageId, role: "agent", parts, taskId, contextId };
    return { type: "status", state: "auth-required", message, auth };
  }

  addUsage(counters: Counters): AgentEvent {
    for (const [name, amount] of Object.entries(counters)) {
      if (amount === undefined) continue;
      if (!Number.isFinite(amount))
        throw new TypeError(`Usage ${name} must be a number, got ${describeValue(amount)}`);
      this.#usage ??= {};
      this.#usage[name] = (this.#usage[name] ?? 0) + amount;
    }
    if (this.#usage) this.#listener.onUsage();
    return NO_EVENT;
  }

  /** Usage of another agent: the message `of` caused it, and it is counted there. */
  addCallUsage(of: string, usage: Usage): void {
    this.#callUsage ??= [];
    this.#callUsage.push({ type: "usage", usage, of });
    this.#listener.onUsage();
  }

  /** Returns the usage since the last call. */
  takeUsage(): AgentEvent | undefined {
    const usage = this.#usage;
    if (!usage) return this.#callUsage?.shift();
    this.#usage = undefined;
    return { type: "usage", usage };
  }

  /** Remembers an event until it is yielded. */
  created(method: string, event: AgentEvent): AgentEvent {
    if (event === NO_EVENT) return event;
    if (this.#unyielded === undefined) {
      this.#unyielded = event;
      this.#unyieldedMethod = method;
      return event;
    }
    this.#othersUnyielded ??= new Map();
    if (this.#othersUnyielded.size < UNYIELDED_MAX) this.#othersUnyielded.set(event, method);
    return event;
  }

  /** Marks an event as yielded; false: it was not created here. */
  yielded(value: AgentEvent): boolean {
    if (value !== this.#unyielded || value === undefined)
      return this.#othersUnyielded?.delete(value) ?? false;
    this.#unyielded = undefined;
    return true;
  }

  /** The `ctx` method of an event that was not yielded. */
  findUnyielded(): string | undefined {
    return this.#unyielded ? this.#unyieldedMethod : this.#othersUnyielded?.values().next().value;
  }

  #message(content: Content, hasTask: boolean): Message {
    const { id: taskId, contextId } = this.#turn.task;
    const parts = toParts(content);
    const messageId = this.#turn.newId();
    if (hasTask) return { messageId, role: "agent", parts, taskId, contextId };
    return { messageId, role: "agent", parts, contextId };
  }
}
