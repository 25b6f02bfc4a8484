/** What the author of an agent sees: the shape of a definition, of the task it is given, and of the `ctx` it speaks with. */

import type { Json, JsonObject } from "../lib/json.ts";
import { defined } from "../lib/json.ts";
import type {
  AgentCard,
  AgentExtension,
  AgentName,
  AgentPolicy,
  AgentSkill,
  BytesPart,
  ContextId,
  Credential,
  DataPart,
  Message,
  Retention,
  TaskId,
  TextPart,
  Trace,
  UrlPart,
} from "../model/index.ts";
import type { Agent, AgentEvent, ContextStorage, KnownCaller, Log, Outbound } from "../ports/index.ts";
import type { Call, McpTools } from "./calls.ts";

export interface AgentDefinition {
  /** The name in URLs: lower-case letters, digits, `-` and `_`. */
  readonly name: string;
  readonly description?: string | undefined;
  readonly version?: string | undefined;
  readonly skills?: readonly SkillDefinition[] | undefined;
  /** Media types that the agent takes; default: text/plain and application/json. */
  readonly inputModes?: readonly string[] | undefined;
  readonly outputModes?: readonly string[] | undefined;
  readonly provider?: { readonly organization: string; readonly url: string } | undefined;
  readonly documentationUrl?: string | undefined;
  readonly iconUrl?: string | undefined;
  readonly extensions?: readonly AgentExtension[] | undefined;
  readonly streaming?: boolean | undefined;
  /** Whether callers may have updates delivered to a webhook; default: true. */
  readonly push?: boolean | undefined;
  /** JSON Schema of the data that it takes. If it has no property `messages`, the LangGraph mount takes data only. */
  readonly inputSchema?: JsonObject | undefined;
  /**
   * "message": answers are bare messages, without a task; then a returned string is one, too.
   * "task": answers are always tasks. Not said: whatever the run's first word is.
   */
  readonly replies?: "task" | "message" | undefined;
  /**
   * What becomes of a run that was cut off. "resume" (default): it begins again, finished steps are not repeated.
   * "fail": the task has failed. "ask": the caller is asked whether to run it again.
   */
  readonly onCrash?: "resume" | "fail" | "ask" | undefined;
  /** How often a turn may be begun before its task has failed; default: the server's `attemptsMax`. */
  readonly attempts?: number | undefined;
  /** Messages of one context: one after another (default), refused while the agent is at one, or all at once. */
  readonly turns?: "queue" | "reject" | "parallel" | undefined;
  /** A message to a task that is being worked on reaches the run, as `ctx.incoming`. */
  readonly acceptsWhileWorking?: boolean | undefined;
  /** "messageId": a message with an id that was sent before is the same call. */
  readonly dedupe?: "messageId" | undefined;
  /** How long settled tasks and their events are kept, by age and by number per caller; default: for ever. */
  readonly retention?: Retention | undefined;
  /** Orloj shows the history of a task only if this is true; v0.3 and older cards tell it. */
  readonly stateTransitionHistory?: boolean | undefined;
  /**
   * What callers are told who are known: these members instead of those of the card, or a function of the caller that
   * gives them.
   */
  readonly extendedCard?:
    | ExtendedCard
    | ((caller: KnownCaller) => ExtendedCard | Promise<ExtendedCard>)
    | undefined;
  /** "public": callers need not say who they are, whatever the server's `auth` says; default: "known". */
  readonly access?: "known" | "public" | undefined;
  /** Only callers of these tenants know of it: for others there is no such agent. Default: all tenants. */
  readonly tenants?: readonly string[] | undefined;
  /** Return: the task is completed; throw: it has failed. When it is canceled, `ctx.signal` is aborted. */
  run(task: AgentTask, ctx: Ctx): Saying;
}

/** What an extended card may tell otherwise. */
export type ExtendedCard = Partial<
  Pick<
    AgentDefinition,
    | "description"
    | "version"
    | "skills"
    | "inputModes"
    | "outputModes"
    | "provider"
    | "documentationUrl"
    | "iconUrl"
    | "extensions"
  >
>;

/** An agent that a config describes instead of defining it: `{ runtime: "openai", name, … }`. What else it holds is its maker's affair. */
export interface AgentSpec {
  readonly runtime: string;
  readonly name: string;
  readonly [option: string]: unknown;
}
/** Imports what a config calls `./file.ts:export`. */
export type Load = (reference: string) => Promise<{ readonly value: unknown; readonly file: string }>;

/** Only `id` must be given; the card never shows an empty value. */
export interface SkillDefinition {
  readonly id: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly examples?: readonly string[] | undefined;
  readonly inputModes?: readonly string[] | undefined;
  readonly outputModes?: readonly string[] | undefined;
}

export type AgentFunction = AgentDefinition["run"];

/** A string is short for `ctx.text(string)`. */
export type Said = AgentEvent | string;
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing has the type void.
export type Outcome = Said | readonly Said[] | undefined | void;
/** A generator says things one by one; a plain function says what it returns. */
export type Saying =
  | AsyncIterable<Said, Outcome>
  | Iterable<Said, Outcome>
  | Promise<Outcome | AsyncIterable<Said, Outcome>>
  | Outcome;

export interface AgentTask {
  readonly id: TaskId;
  readonly contextId: ContextId;
  /** Under which traces of the conversation are grouped: what the caller said, else the context. */
  readonly thread: string;
  /** Media types that the caller can read, in the order in which it named them; empty: it did not say. */
  readonly accepts: readonly string[];
  /** All text of the message that this turn answers. */
  readonly text: string;
  /** What the message's first data part holds. */
  readonly data: Json | undefined;
  /** The objects in all its data parts as one; where several have the same member, the last one counts. */
  readonly input: JsonObject;
  /** What was answered to the questions of `ctx.askAll`, by their ids; empty in any other turn. */
  readonly answers: JsonObject;
  readonly files: readonly AgentFile[];
  readonly message: Message;
  /** This task's messages so far, oldest first, the one of this turn included. */
  readonly history: readonly Message[];
  /** 1 for the message that began the task, 2 for the first answer to a question, … */
  readonly turn: number;
  readonly metadata: JsonObject;
}

/** A file that came with a message; `ctx.file(file)` sends it back. */
export type AgentFile =
  | { readonly name: string; readonly mediaType: string; readonly bytes: Uint8Array; readonly url?: never }
  | { readonly name: string; readonly mediaType: string; readonly url: string; readonly bytes?: never };

export type FileContent = {
  readonly name: string;
  /** Guessed from the name if it is not given. */
  readonly mediaType?: string | undefined;
  readonly artifactId?: string | undefined;
  readonly description?: string | undefined;
  readonly metadata?: JsonObject | undefined;
} & (
  | { /** A string is base64. */ readonly bytes: Uint8Array | string; readonly url?: undefined }
  | { readonly url: string; readonly bytes?: undefined }
);

/** One part: a string is text. */
export type PartContent =
  | string
  | TextPart
  | DataPart
  | UrlPart
  | (Omit<BytesPart, "bytes"> & { readonly bytes: Uint8Array | string });
export type Content = PartContent | readonly PartContent[];

/** By ids of the author's choice. */
export type Questions = Readonly<Record<string, Content>>;

/** What an agent needs from its caller, to act for it elsewhere. */
export interface AuthRequest {
  /** Under this name it is kept; with OAuth 2 the provider of that name in the server's config. */
  readonly name: string;
  /** "oauth2" (default), "bearer", "basic", "apiKey" or a word of your own. */
  readonly scheme?: string | undefined;
  /** A page of your own where a person gives it; else the server has one for each provider. */
  readonly url?: string | undefined;
  /** Besides those of the provider. */
  readonly scopes?: readonly string[] | undefined;
  /** What it is for, in words for a person. */
  readonly description?: string | undefined;
}

export interface TextOptions {
  /** Text of one name goes to one artifact; default: "response". */
  readonly name?: string | undefined;
  readonly artifactId?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  /** Nothing will be added to this text. */
  readonly last?: boolean | undefined;
}
export interface DataOptions {
  readonly name?: string | undefined;
  readonly artifactId?: string | undefined;
  readonly description?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly metadata?: JsonObject | undefined;
}
export interface ArtifactContent {
  readonly artifactId?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly parts: Content;
  readonly metadata?: JsonObject | undefined;
  readonly extensions?: readonly string[] | undefined;
  /** Add to the artifact of this id rather than replace it. */
  readonly append?: boolean | undefined;
  /** With `append`: the first text goes on in the artifact's last text part. */
  readonly join?: boolean | undefined;
  readonly last?: boolean | undefined;
}

export interface StepScope {
  /** Aborted when the task is canceled or the server stops. */
  readonly signal: AbortSignal;
}

/** Every verb but `usage` makes an event that takes effect when it is yielded (or returned). */
export interface Ctx {
  /** Streams into one artifact, append by append. */
  text(text: string, options?: TextOptions): AgentEvent;
  data(data: unknown, options?: DataOptions): AgentEvent;
  file(file: FileContent): AgentEvent;
  artifact(artifact: ArtifactContent): AgentEvent;
  /** Progress, while the work goes on. */
  status(content: Content): AgentEvent;
  /** Answers with a bare message, without a task; ends the run. */
  reply(content: Content): AgentEvent;
  /** The task waits for the caller; ends the run. The answer begins the next turn. */
  ask(question: Content): AgentEvent;
  /** Several questions at once, each with an id; ends the run. The next turn begins when all are answered: `task.answers`. */
  askAll(questions: Questions): AgentEvent;
  /**
   * The task waits until the caller has given what the agent needs to act for it elsewhere; ends the run. The next turn
   * finds it with `ctx.credentials(name)`.
   */
  askAuth(request: AuthRequest): AgentEvent;
  /** What this caller gave to this agent under this name; undefined: nothing that still holds. */
  credentials(name: string): Promise<Credential | undefined>;
  /** Declines the task; ends the run. */
  reject(reason: Content): AgentEvent;
  /** Fails with words that the caller reads; ends the run. What is thrown is logged, and kept for operators. */
  fail(reason: Content): AgentEvent;
  /** Counts at once and need not be yielded. Counters of one task add up. */
  usage(counters: Readonly<Record<string, number | undefined>>): AgentEvent;
  /**
   * Does something once: what it returns is on record before `step` resolves, and a run that begins anew gets it without
   * doing it again. It must be JSON; what it throws is kept, too. Steps of one name are told apart by their order.
   */
  step<T>(name: string, work: (scope: StepScope) => T | Promise<T>): Promise<T>;
  /** Waits, also over restarts of the server. Rejects when the run or the signal is aborted. */
  sleep(ms: number, options?: { readonly signal?: AbortSignal }): Promise<void>;
  /** The time in milliseconds; a run that begins anew gets the same. */
  now(): Promise<number>;
  /** At least 0, below 1; a run that begins anew gets the same. */
  random(): Promise<number>;
  /** Messages that come while the task is worked on, if the agent `acceptsWhileWorking`; ends with the run. */
  readonly incoming: AsyncIterable<Message>;
  /** This context's earlier turns, oldest first. */
  readonly history: Promise<readonly Message[]>;
  /** Aborted when the task is canceled or the server stops. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** What the agent puts away in this context for this caller; goes with the context's last task. */
  readonly shelf: ContextStorage;
  /** Whose task it is. */
  readonly caller: { readonly tenant: string; readonly principal: string };
  /** Calls to others; see `Outbound`. */
  readonly outbound: Outbound;
  /** Where this run stands in a trace, to be passed on to whoever is called. */
  readonly trace: Trace | undefined;
  /**
   * Calls an agent somewhere else: `const { text } = await ctx.call("https://…", "hello")`. A call that came to its end is
   * not made again when a run begins anew; one that did not is taken up where it was.
   */
  readonly call: Call;
  /** Tools of an MCP server that the option `mcpServers` names. */
  mcp(server: string): Promise<McpTools>;
  /** Through how many servers the call came that passed it on; whoever passes it on adds one. */
  readonly hops: number;
  /** Above 1: an earlier run of this turn did not come to its end. */
  readonly attempt: number;
}

/** Survives two copies of this module in one process. */
const MARK = Symbol.for("dragoman.agent");
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
export const NAME_RULE = "1 to 64 lower-case letters, digits, - and _, a letter or a digit first";
const MODES: readonly string[] = ["text/plain", "application/json"];

export const isAgentName = (name: unknown): name is AgentName => typeof name === "string" && NAME.test(name);

/** Types a definition, checks what would break first, and marks it, so that a file may export several. */
export function agent(definition: AgentDefinition): AgentDefinition {
  if (typeof definition?.run !== "function")
    throw wrong("agent() needs a run function: agent({ name, run })");
  if (!isAgentName(definition.name))
    throw wrong(`The agent name ${JSON.stringify(definition.name)} is not allowed: ${NAME_RULE}`);
  const run = definition.run.bind(definition);
  const marked = { ...definition, name: definition.name, run };
  return Object.freeze(Object.defineProperty(marked, MARK, { value: true }));
}

const wrong = (reason: string): TypeError =>
  Object.assign(new TypeError(reason), { code: "ERR_AGENT_DEFINITION" });

/** Whether this was made with agent(). */
export const isAgent = (value: unknown): value is AgentDefinition =>
  typeof value === "object" && value !== null && MARK in value;

/** What is not declared gets a sensible value; no required value of a card is ever empty. */
export function toCard(definition: AgentDefinition): AgentCard {
  const description = definition.description || `The agent ${definition.name}`;
  const skills: readonly SkillDefinition[] = filled(definition.skills, [
    { id: definition.name, description },
  ]);
  return defined<AgentCard>({
    name: definition.name,
    description,
    version: definition.version || "1.0.0",
    provider: definition.provider,
    documentationUrl: definition.documentationUrl,
    iconUrl: definition.iconUrl,
    inputModes: filled(definition.inputModes, MODES),
    outputModes: filled(definition.outputModes, MODES),
    skills: skills.map(toSkill),
    extensions: definition.extensions ?? [],
    streaming: definition.streaming ?? true,
    push: definition.push ?? true,
    stateTransitionHistory: definition.stateTransitionHistory ?? false,
  });
}

export function toExtendedCard(definition: AgentDefinition): Agent["extendedCard"] {
  const { extendedCard } = definition;
  if (extendedCard === undefined) return undefined;
  return async caller => {
    const more = typeof extendedCard === "function" ? await extendedCard(caller) : extendedCard;
    if (typeof more !== "object" || more === null)
      throw wrong(`The extendedCard of the agent ${definition.name} must give an object`);
    return toCard({ ...definition, ...more });
  };
}

export function toPolicy(definition: AgentDefinition): AgentPolicy {
  return {
    access: definition.access ?? "known",
    tenants: definition.tenants,
    onCrash: definition.onCrash ?? "resume",
    attempts: definition.attempts,
    turns: definition.turns ?? "queue",
    acceptsWhileWorking: definition.acceptsWhileWorking ?? false,
    dedupe: definition.dedupe,
    retention: definition.retention,
  };
}

function toSkill(skill: SkillDefinition): AgentSkill {
  const name = skill.name || skill.id;
  const tags = filled(skill.tags, ["a2a"]);
  return defined<AgentSkill>({ ...skill, name, description: skill.description || name, tags });
}

const filled = <T>(list: readonly T[] | undefined, instead: readonly T[]): readonly T[] =>
  list && list.length > 0 ? list : instead;
