/** The definition of an agent, and the card and policy that follow from it. */

import { defined } from "../lib/json.ts";
import type {
  AgentCard,
  AgentExtension,
  AgentName,
  AgentPolicy,
  AgentSkill,
  Retention,
} from "../model/index.ts";
import type { Agent, GraphAccess, KnownCaller } from "../ports/index.ts";
import { type AgentSchemas, toAgentSchemas, toSchemasExtension } from "./agent-schemas.ts";
import type { AgentTask, Ctx, RunResult } from "./context.ts";
import type { DataSchema, DeclaredSchemas, SchemaInput, SchemaOutput } from "./schema.ts";

export interface AgentDefinition extends DeclaredSchemas {
  /** The name in URLs: lower-case letters, digits, `-` and `_`. */
  readonly name: string;
  readonly description?: string | undefined;
  readonly version?: string | undefined;
  readonly skills?: readonly SkillDefinition[] | undefined;
  /** Media types of the input; default: text/plain and application/json. */
  readonly inputModes?: readonly string[] | undefined;
  readonly outputModes?: readonly string[] | undefined;
  readonly provider?: { readonly organization: string; readonly url: string } | undefined;
  readonly documentationUrl?: string | undefined;
  readonly iconUrl?: string | undefined;
  readonly extensions?: readonly AgentExtension[] | undefined;
  readonly streaming?: boolean | undefined;
  /** Whether callers may register webhooks (push notifications); default: true. */
  readonly push?: boolean | undefined;
  /**
   * "message": the response is a message without a task; a returned string is one, too. "task": the response is always
   * a task. Default: the first event of the run decides.
   */
  readonly replies?: "task" | "message" | undefined;
  /**
   * A run that was interrupted: "resume" (default) runs it again without repeating finished steps, "fail" fails the
   * task, "ask" asks the caller whether to run it again.
   */
  readonly onCrash?: "resume" | "fail" | "ask" | undefined;
  /** The maximum number of attempts of a turn before its task fails; default: the server's `attemptsMax`. */
  readonly attempts?: number | undefined;
  /** Messages of one context: one after another (default), rejected while a turn is running, or in parallel. */
  readonly turns?: "queue" | "reject" | "parallel" | undefined;
  /** Messages to a running task are passed to the run as `ctx.incoming`. */
  readonly acceptsWhileWorking?: boolean | undefined;
  /**
   * A message with a contextId and without a taskId answers the task of that context that waits for input, if there is
   * exactly one; default: true. false: it begins a new task.
   */
  readonly contextAnswers?: boolean | undefined;
  /**
   * Artifacts that are still open when a turn ends get an empty last chunk with `lastChunk: true`. Clients of ADK keep
   * streamed text only with it, ADK for Python only with a last chunk that has the whole artifact; default: it is added
   * for messages that by their metadata come from ADK, in the form that it needs.
   */
  readonly closeArtifacts?: boolean | undefined;
  /** The completed status repeats the text of the artifacts, for clients that read only the status; default: false. */
  readonly answerInStatus?: boolean | undefined;
  /** "messageId": a message with a known id is a repetition of the same call. */
  readonly dedupe?: "messageId" | undefined;
  /** How long settled tasks and their events are stored, by age and by number per caller; default: forever. */
  readonly retention?: Retention | undefined;
  /** Shown in cards of v0.3 and older; Orloj shows the history of a task only if this is true. */
  readonly stateTransitionHistory?: boolean | undefined;
  /** Members that replace those of the card for authenticated callers, or a function of the caller that returns them. */
  readonly extendedCard?:
    | ExtendedCard
    | ((caller: KnownCaller) => ExtendedCard | Promise<ExtendedCard>)
    | undefined;
  /**
   * "public": no authentication, whatever the server's `auth` says. "internal": the agent exists for other agents of the
   * same server only, which call it by its name (`ctx.call`). Default: "known".
   */
  readonly access?: "known" | "public" | "internal" | undefined;
  /** The agent is visible only to callers of these tenants; default: all tenants. */
  readonly tenants?: readonly string[] | undefined;
  /** Set by runtimes of graphs: schemas, state and history for clients of LangGraph. */
  readonly graph?: GraphAccess | undefined;
  /** Return: the task is completed; throw: it has failed. A cancel aborts `ctx.signal`. */
  run(task: AgentTask, ctx: Ctx): RunResult;
}

/** The members of a card that an extended card may replace. */
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

/** An agent as an entry of the config: `{ runtime: "openai", name, … }`, with the options of that runtime. */
export interface AgentSpec {
  readonly runtime: string;
  readonly name: string;
  readonly [option: string]: unknown;
}
/** Imports an export that the config names as `./file.ts:export`. */
export type Load = (reference: string) => Promise<{ readonly value: unknown; readonly file: string }>;

/** Where an agent of the config is loaded. */
export interface LoadContext {
  /** The folder of the config. */
  readonly folder: string;
  /** The variables of the server's environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** A reload depends on these files as well. */
  watch(files: readonly string[]): void;
}

/** Only `id` is required; the card has defaults for the rest. Its schemas are for messages to this skill. */
export interface SkillDefinition extends DeclaredSchemas {
  readonly id: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly examples?: readonly string[] | undefined;
  readonly inputModes?: readonly string[] | undefined;
  readonly outputModes?: readonly string[] | undefined;
}

/** A definition whose `run` has the types of its schemas. */
export type TypedDefinition<
  In extends DataSchema | undefined,
  Out extends DataSchema | undefined,
  Skills extends readonly SkillDefinition[] | undefined,
> = Omit<AgentDefinition, "input" | "output" | "skills" | "run"> & {
  readonly input?: In;
  readonly output?: Out;
  readonly skills?: Skills;
  run(task: TypedTask<In, Skills>, ctx: Ctx<TypedOutput<Out, Skills>>): RunResult;
};

type SkillOf<Skills> = [Skills] extends [undefined]
  ? never
  : Skills extends readonly (infer Skill)[]
    ? Skill
    : never;

/** With skills that have an input of their own, one member for each skill: `task.skill` tells which input it is. */
export type TypedTask<In, Skills> = [SkillOf<Skills>] extends [never]
  ? AgentTask<SchemaOutput<In>>
  : InTask<In> | SkillTask<In, SkillOf<Skills>>;
/** The caller named no skill, and its input is that of the agent. */
type InTask<In> = [In] extends [undefined] ? never : AgentTask<SchemaOutput<In>, undefined>;
type SkillTask<In, Skill> = Skill extends { readonly id: infer Id extends string }
  ? Skill extends { readonly input: infer Own extends DataSchema }
    ? AgentTask<SchemaOutput<Own>, Id>
    : AgentTask<SchemaOutput<In>, Id | undefined>
  : never;

type TypedOutput<Out, Skills> = [SkillOf<Skills>] extends [never]
  ? SchemaInput<Out>
  : SkillOutput<Out, SkillOf<Skills>>;
type SkillOutput<Out, Skill> = Skill extends { readonly output: infer Own extends DataSchema }
  ? SchemaInput<Own>
  : SchemaInput<Out>;

export type AgentFunction = AgentDefinition["run"];

/** A global symbol, so that two copies of this module in one process agree. */
const MARK = Symbol.for("dragoman.agent");
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
export const NAME_RULE = "1 to 64 lower-case letters, digits, - and _, a letter or a digit first";
const MODES: readonly string[] = ["text/plain", "application/json"];

export const isAgentName = (name: unknown): name is AgentName => typeof name === "string" && NAME.test(name);

/** A name of another system as the name of an agent: `myAgent` is `my-agent`; empty if nothing of it is allowed. */
export const toAgentName = (text: string): string =>
  isAgentName(text)
    ? text
    : text
        .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
        .toLowerCase()
        .replace(/[^a-z0-9_-]+/g, "-")
        .replace(/^[^a-z0-9]+|-+$/g, "")
        .slice(0, 64);

/** Checks a definition and marks it, so that a file may export several agents among other values. */
export function agent<
  const In extends DataSchema | undefined = undefined,
  const Out extends DataSchema | undefined = undefined,
  const Skills extends readonly SkillDefinition[] | undefined = undefined,
>(typed: TypedDefinition<In, Out, Skills>): AgentDefinition {
  const definition = typed as unknown as AgentDefinition;
  if (typeof definition?.run !== "function")
    throw definitionError("agent() needs a run function: agent({ name, run })");
  if (!isAgentName(definition.name))
    throw definitionError(`The agent name ${JSON.stringify(definition.name)} is not allowed: ${NAME_RULE}`);
  const run = definition.run.bind(definition);
  const marked = { ...definition, name: definition.name, run };
  return Object.freeze(Object.defineProperty(marked, MARK, { value: true }));
}

/** An error in the definition of an agent: the loader shows the message without a stack. */
export const definitionError = (reason: string): TypeError =>
  Object.assign(new TypeError(reason), { code: "ERR_AGENT_DEFINITION" });

/** An error in a file of the user that a runtime has loaded: the loader shows the place and the hint. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly file: string;
  readonly line: number | undefined;
  readonly hint: string | undefined;

  constructor(
    reason: string,
    place: {
      readonly file: string;
      readonly line?: number | undefined;
      readonly hint?: string | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(reason, { cause: place.cause });
    this.file = place.file;
    this.line = place.line;
    this.hint = place.hint;
  }
}

export const isAgent = (value: unknown): value is AgentDefinition =>
  typeof value === "object" && value !== null && MARK in value;

/** Adds defaults; A2A requires that no required value of a card is empty. */
export function toCard(
  definition: AgentDefinition,
  schemas: AgentSchemas = toAgentSchemas(definition),
): AgentCard {
  const description = definition.description || `The agent ${definition.name}`;
  const skills: readonly SkillDefinition[] = orDefault(definition.skills, [
    { id: definition.name, description },
  ]);
  return defined<AgentCard>({
    name: definition.name,
    description,
    version: definition.version || "1.0.0",
    provider: definition.provider,
    documentationUrl: definition.documentationUrl,
    iconUrl: definition.iconUrl,
    inputModes: orDefault(definition.inputModes, MODES),
    outputModes: orDefault(definition.outputModes, MODES),
    skills: skills.map(toSkill),
    extensions: [...(definition.extensions ?? []), ...toSchemasExtension(definition, schemas)],
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
      throw definitionError(`The extendedCard of the agent ${definition.name} must be an object`);
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
    contextAnswers: definition.contextAnswers ?? true,
    closeArtifacts: definition.closeArtifacts,
    answerInStatus: definition.answerInStatus ?? false,
    dedupe: definition.dedupe,
    retention: definition.retention,
  };
}

function toSkill(definition: SkillDefinition): AgentSkill {
  const { input: _in, output: _out, inputSchema: _inJson, outputSchema: _outJson, ...skill } = definition;
  const name = skill.name || skill.id;
  const tags = orDefault(skill.tags, ["a2a"]);
  return defined<AgentSkill>({ ...skill, name, description: skill.description || name, tags });
}

const orDefault = <T>(list: readonly T[] | undefined, fallback: readonly T[]): readonly T[] =>
  list && list.length > 0 ? list : fallback;
