/** The schemas of an agent and of its skills: which of them a message is checked with. */
import type { JsonObject } from "../lib/json.ts";
import type { AgentExtension } from "../model/index.ts";
import type { InputCheck, SkillSchemas } from "../ports/index.ts";
import { type CheckedSchema, type SchemaResult, toCheckedSchema } from "./checked-schema.ts";
import type { DeclaredSchemas } from "./schema.ts";

/** An agent with its skills. */
type SchemaOwner = DeclaredSchemas & {
  readonly skills?: readonly (DeclaredSchemas & { readonly id: string })[] | undefined;
};

interface SchemaPair {
  readonly input?: CheckedSchema;
  readonly output?: CheckedSchema;
}

export interface AgentSchemas extends SchemaPair {
  /** By the id of the skill: those that have a schema of their own. */
  readonly skills: ReadonlyMap<string, SchemaPair>;
}

/** Throws an error for the author. */
export function toAgentSchemas(definition: SchemaOwner): AgentSchemas {
  const skills = (definition.skills ?? []).flatMap((skill, at) => {
    const pair = toPair(skill, `skills[${at}].`);
    return pair.input || pair.output ? [[skill.id, pair] as const] : [];
  });
  return { ...toPair(definition, ""), skills: new Map(skills) };
}

function toPair(source: DeclaredSchemas, prefix: string): SchemaPair {
  const { input, output, inputSchema, outputSchema } = source;
  const place = (direction: "input" | "output") => ({ name: `${prefix}${direction}`, direction });
  return {
    ...(input && { input: toCheckedSchema(input, inputSchema, place("input")) }),
    ...(output && { output: toCheckedSchema(output, outputSchema, place("output")) }),
  };
}

/** Whether messages are checked at all. */
export const checksInput = ({ input, skills }: AgentSchemas): boolean =>
  input !== undefined || [...skills.values()].some(skill => skill.input);

/**
 * `named`: the skill that the caller names, one of the card. Without a name the first skill that accepts the input is
 * chosen, then the agent's own schema counts; an agent without one takes anything if it has skills without a schema.
 */
export async function checkInput(
  schemas: AgentSchemas,
  skillIds: readonly string[],
  named: string | undefined,
  value: unknown,
): Promise<InputCheck> {
  if (named !== undefined)
    return withSkill(named, await check(schemas.skills.get(named)?.input ?? schemas.input, value));
  const typed = [...schemas.skills].filter(([, skill]) => skill.input);
  let refused: InputCheck | undefined;
  for (const [skill, { input }] of typed) {
    const result = withSkill(skill, await check(input, value));
    if (!("issue" in result)) return result;
    if (!refused || ("issue" in refused && result.issue.path.length > refused.issue.path.length))
      refused = result;
  }
  const isOpen = !schemas.input && skillIds.length > typed.length;
  if (schemas.input || isOpen || !refused) return withSkill(undefined, await check(schemas.input, value));
  return typed.length > 1 ? { ...refused, skills: typed.map(([skill]) => skill) } : refused;
}

const check = (schema: CheckedSchema | undefined, value: unknown): SchemaResult | Promise<SchemaResult> =>
  schema ? schema.check(value) : { value };

const withSkill = (skill: string | undefined, result: SchemaResult): InputCheck =>
  skill === undefined ? result : { ...result, skill };

/** The JSON Schemas of skills, for callers. */
export function toSkillSchemas(definition: SchemaOwner, schemas: AgentSchemas): SkillSchemas {
  const all = (definition.skills ?? []).map(({ id, inputSchema, outputSchema }) => {
    const { input, output } = schemas.skills.get(id) ?? {};
    return [id, toJsonPair(input?.json ?? inputSchema, output?.json ?? outputSchema)] as const;
  });
  return Object.fromEntries(all.filter(([, pair]) => Object.keys(pair).length > 0));
}

const toJsonPair = (input: object | undefined, output: object | undefined): JsonObject => ({
  ...(input && { input: input as JsonObject }),
  ...(output && { output: output as JsonObject }),
});

export const SCHEMAS_EXTENSION = "urn:dragoman:schemas:v1";

/** A2A has no place for schemas in a card but the parameters of an extension. */
export function toSchemasExtension(
  definition: SchemaOwner,
  schemas: AgentSchemas,
): readonly AgentExtension[] {
  const skills = toSkillSchemas(definition, schemas);
  const own = toJsonPair(
    schemas.input?.json ?? definition.inputSchema,
    schemas.output?.json ?? definition.outputSchema,
  );
  const hasSkills = Object.keys(skills).length > 0;
  if (!hasSkills && Object.keys(own).length === 0) return [];
  const description = "JSON Schemas of the data; message.metadata.skillId names the skill";
  const params = { ...own, ...(hasSkills && { skills }) } as JsonObject;
  return [{ uri: SCHEMAS_EXTENSION, description, params }];
}
