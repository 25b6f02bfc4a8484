/** The input of a task and the output of a run, checked with the schemas of the agent. */
import { type AgentSchemas, checkInput, checksInput } from "../../agent/agent-schemas.ts";
import type { CheckedSchema } from "../../agent/checked-schema.ts";
import type { AgentTask } from "../../agent/context.ts";
import type { AgentDefinition } from "../../agent/definition.ts";
import type { JsonObject } from "../../lib/json.ts";
import { formatPath, type SchemaIssue } from "../../lib/json-schema-check.ts";
import { inputOf, type Message, skillIdOf } from "../../model/index.ts";
import type { Turn } from "../../ports/index.ts";
import { toAgentTask } from "./task.ts";

/** A definition with what is computed from it once. */
export interface ServedFunction {
  readonly definition: AgentDefinition;
  readonly schemas: AgentSchemas;
  readonly skillIds: readonly string[];
}

export interface TypedTurn {
  readonly task: AgentTask;
  /** The schema of the output of its skill. */
  readonly output: CheckedSchema | undefined;
}

export const skillIdsOf = ({ skills = [] }: AgentDefinition): readonly string[] => skills.map(({ id }) => id);

/** A promise only for agents that check their input. */
export function toTypedTask(served: ServedFunction, turn: Turn): TypedTurn | Promise<TypedTurn> {
  const { schemas, skillIds } = served;
  const first = firstMessage(turn);
  const named = skillIdOf(first, turn.task.metadata);
  const skill = named !== undefined && skillIds.includes(named) ? named : undefined;
  if (checksInput(schemas)) return toChecked(served, turn, first, skill);
  return { task: toAgentTask(turn, skill), output: outputOf(schemas, skill) };
}

/** The message that began the task was checked before it was recorded; an agent may have changed since. */
async function toChecked(
  { schemas, skillIds }: ServedFunction,
  turn: Turn,
  first: Message,
  named: string | undefined,
): Promise<TypedTurn> {
  const result = await checkInput(schemas, skillIds, named, inputOf(first.parts).value);
  if ("issue" in result)
    throw new TypeError(`The input of the task does not match the schema: ${describeIssue(result.issue)}`);
  const task = { ...toAgentTask(turn, result.skill), input: result.value as JsonObject };
  return { task, output: outputOf(schemas, result.skill) };
}

/** Answers have no schema: the input of a task is that of its first message. */
function firstMessage({ task, message }: Turn): Message {
  if (task.turn <= 1) return message;
  return task.history.find(({ role, taskId }) => role === "user" && taskId === task.id) ?? message;
}

const outputOf = (schemas: AgentSchemas, skill: string | undefined): CheckedSchema | undefined =>
  (skill === undefined ? undefined : schemas.skills.get(skill)?.output) ?? schemas.output;

/** Throws an error with the author's stack. */
export function checkOutput(schema: CheckedSchema | undefined, value: unknown): unknown {
  if (!schema) return value;
  const result = schema.check(value);
  if (result instanceof Promise)
    throw new TypeError("The output schema is asynchronous: ctx.output needs one that is not");
  if ("issue" in result)
    throw new TypeError(
      `ctx.output: the value does not match the output schema: ${describeIssue(result.issue)}`,
    );
  return result.value;
}

const describeIssue = ({ path, message }: SchemaIssue): string =>
  path.length === 0 ? message : `${formatPath(path)}: ${message}`;
