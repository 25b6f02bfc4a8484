/** The `ctx` that a function speaks with: each verb makes one event. */

import type { Call, McpTools } from "../../agent/calls.ts";
import type {
  ArtifactContent,
  AuthRequest,
  Content,
  Ctx,
  DataOptions,
  FileContent,
  Questions,
  TextOptions,
} from "../../agent/definition.ts";
import type { Message, Usage } from "../../model/index.ts";
import type { AgentEvent, Log, Turn } from "../../ports/index.ts";
import { Texts, Wholes } from "./artifacts.ts";
import { toAsking } from "./authorization.ts";
import { checkText, describe, toParts, toQuestions } from "./content.ts";
import { createCall } from "./remote-call.ts";
import { Steps } from "./steps.ts";

type State = (AgentEvent & { type: "status" })["state"];
type Counters = Readonly<Record<string, number | undefined>>;

/** What is said by an empty text, and by yielding what `ctx.usage` returned: nothing. */
export const NOTHING: AgentEvent = Object.freeze({ type: "usage", usage: Object.freeze({}) });

/** Events that are remembered until they are yielded: enough for one warning. */
const UNSAID_MAX = 100;

/** Whoever hears what is said; what is spent need not be yielded. */
export interface SpeechHearer {
  /** Something was spent. */
  look(): void;
}

/** One run's words, from the verb to the moment when they are yielded. */
export class Speech {
  readonly #turn: Turn;
  /** Made when they are first needed, as most of what follows: a run may be silent for hours. */
  #madeTexts: Texts | undefined;
  #madeWholes: Wholes | undefined;
  readonly #hearer: SpeechHearer;
  #spent: Record<string, number> | undefined;
  /** Most events are yielded before the next is made: one slot for those, a map for the rest. */
  #unsaid: AgentEvent | undefined;
  #unsaidVerb = "";
  #othersUnsaid: Map<unknown, string> | undefined;

  constructor(turn: Turn, hearer: SpeechHearer) {
    this.#turn = turn;
    this.#hearer = hearer;
  }

  get #texts(): Texts {
    this.#madeTexts ??= new Texts(this.#turn);
    return this.#madeTexts;
  }

  get #wholes(): Wholes {
    this.#madeWholes ??= new Wholes(this.#turn);
    return this.#madeWholes;
  }

  /** Text without the verb: what a yielded string means. */
  say(text: string, last: boolean): AgentEvent {
    return text === "" ? NOTHING : this.#texts.chunk(text, last);
  }

  /** A bare message without the verb: what a returned string means to an agent that replies so. */
  reply(content: Content): AgentEvent {
    return { type: "reply", message: this.#message(content, false) };
  }

  text(text: string, options: TextOptions | undefined): AgentEvent {
    if (checkText(text) === "" && !options?.last) return NOTHING;
    return options ? this.#texts.named(text, options) : this.#texts.chunk(text, false);
  }

  data(data: unknown, options: DataOptions): AgentEvent {
    return this.#wholes.data(data, options);
  }

  file(file: FileContent): AgentEvent {
    return this.#wholes.file(file);
  }

  artifact(artifact: ArtifactContent): AgentEvent {
    return this.#wholes.any(artifact);
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
    const { auth, parts } = toAsking(request, this.#turn, messageId);
    const message: Message = { messageId, role: "agent", parts, taskId, contextId };
    return { type: "status", state: "auth-required", message, auth };
  }

  spend(counters: Counters): AgentEvent {
    for (const [name, amount] of Object.entries(counters)) {
      if (amount === undefined) continue;
      if (!Number.isFinite(amount))
        throw new TypeError(`Usage ${name} must be a number, got ${describe(amount)}`);
      this.#spent ??= {};
      this.#spent[name] = (this.#spent[name] ?? 0) + amount;
    }
    if (this.#spent) this.#hearer.look();
    return NOTHING;
  }

  /** Counters that nobody has heard of yet; they are then heard of. */
  spent(): Usage | undefined {
    const spent = this.#spent;
    this.#spent = undefined;
    return spent;
  }

  made(verb: string, event: AgentEvent): AgentEvent {
    if (event === NOTHING) return event;
    if (this.#unsaid === undefined) {
      this.#unsaid = event;
      this.#unsaidVerb = verb;
      return event;
    }
    this.#othersUnsaid ??= new Map();
    if (this.#othersUnsaid.size < UNSAID_MAX) this.#othersUnsaid.set(event, verb);
    return event;
  }

  /** Whether it is an event that was made here; it is then no longer unsaid. */
  take(value: AgentEvent): boolean {
    if (value !== this.#unsaid || value === undefined) return this.#othersUnsaid?.delete(value) ?? false;
    this.#unsaid = undefined;
    return true;
  }

  /** The verb of an event that was made and never yielded. */
  unsaid(): string | undefined {
    return this.#unsaid ? this.#unsaidVerb : this.#othersUnsaid?.values().next().value;
  }

  #message(content: Content, ofTask: boolean): Message {
    const { id: taskId, contextId } = this.#turn.task;
    const parts = toParts(content);
    const messageId = this.#turn.newId();
    if (ofTask) return { messageId, role: "agent", parts, taskId, contextId };
    return { messageId, role: "agent", parts, contextId };
  }
}

/**
 * Its verbs are not methods, so that authors may write `run(task, { text, ask })`; and they are made when they are used,
 * for a run may be silent for hours, and most use one or two.
 */
export class FunctionCtx implements Ctx {
  readonly #speech: Speech;
  readonly #turn: Turn;
  readonly attempt: number;
  /** Made when first asked for: most agents take no steps. */
  #steps: Steps | undefined;
  #call: Call | undefined;

  constructor(speech: Speech, turn: Turn) {
    this.#speech = speech;
    this.#turn = turn;
    this.attempt = turn.attempt;
  }

  get text(): Ctx["text"] {
    return (text, options) => this.#speech.made("text", this.#speech.text(text, options));
  }

  get data(): Ctx["data"] {
    return (data, options = {}) => this.#speech.made("data", this.#speech.data(data, options));
  }

  get file(): Ctx["file"] {
    return file => this.#speech.made("file", this.#speech.file(file));
  }

  get artifact(): Ctx["artifact"] {
    return artifact => this.#speech.made("artifact", this.#speech.artifact(artifact));
  }

  get status(): Ctx["status"] {
    return content => this.#speech.made("status", this.#speech.status("working", content));
  }

  get reply(): Ctx["reply"] {
    return content => this.#speech.made("reply", this.#speech.reply(content));
  }

  get ask(): Ctx["ask"] {
    return question => this.#speech.made("ask", this.#speech.status("input-required", question));
  }

  get askAll(): Ctx["askAll"] {
    return questions => this.#speech.made("askAll", this.#speech.askAll(questions));
  }

  get askAuth(): Ctx["askAuth"] {
    return request => this.#speech.made("askAuth", this.#speech.askAuth(request));
  }

  get credentials(): Ctx["credentials"] {
    return name => this.#turn.credentials(name);
  }

  get reject(): Ctx["reject"] {
    return reason => this.#speech.made("reject", this.#speech.status("rejected", reason));
  }

  get fail(): Ctx["fail"] {
    return reason => this.#speech.made("fail", this.#speech.status("failed", reason));
  }

  get usage(): Ctx["usage"] {
    return counters => this.#speech.spend(counters);
  }

  get step(): Steps["step"] {
    return this.#durable().step;
  }

  get sleep(): Steps["sleep"] {
    return this.#durable().sleep;
  }

  get now(): Steps["now"] {
    return this.#durable().now;
  }

  get random(): Steps["random"] {
    return this.#durable().random;
  }

  #durable(): Steps {
    this.#steps ??= new Steps(this.#turn);
    return this.#steps;
  }

  get log(): Log {
    return this.#turn.log;
  }

  get incoming(): AsyncIterable<Message> {
    return this.#turn.incoming;
  }

  get history(): Promise<readonly Message[]> {
    return this.#turn.history();
  }

  get shelf(): Turn["storage"] {
    return this.#turn.storage;
  }

  get caller(): Turn["caller"] {
    return this.#turn.caller;
  }

  get outbound(): Turn["outbound"] {
    return this.#turn.outbound;
  }

  get trace(): Turn["trace"] {
    return this.#turn.trace;
  }

  get call(): Call {
    this.#call ??= createCall(this, this.#turn);
    return this.#call;
  }

  get mcp(): Ctx["mcp"] {
    return server => this.#open(server);
  }

  async #open(server: string): Promise<McpTools> {
    const found = await this.#turn.tools(server);
    const { signal } = this.#turn;
    return {
      listTools: () => found.listTools(signal),
      callTool: (name, input = {}) => found.callTool(name, input, signal),
    };
  }

  get hops(): number {
    return this.#turn.task.hops ?? 0;
  }

  /** The runner may make it only when it is asked for. */
  get signal(): AbortSignal {
    return this.#turn.signal;
  }
}
