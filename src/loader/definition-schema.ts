/** The fields of an agent's definition, and what is wrong with a given one. */
import { isAgentName, NAME_RULE } from "../agent/definition.ts";
import { isStandardSchema } from "../agent/schema.ts";
import { compileJsonSchema, type JsonSchemaObject, type SchemaIssue } from "../lib/json-schema-check.ts";
import { isCallerName } from "../model/index.ts";

const text = { type: "string", minLength: 1 };
const texts = { type: "array", items: text };
const modes = { ...texts, minItems: 1 };
const boolean = { type: "boolean" };
const json = { type: "object" };
const count = (minimum: number) => ({ type: "integer", minimum });

const fields = (properties: JsonSchemaObject, ...required: readonly string[]): JsonSchemaObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const SCHEMA_FIELDS = { input: json, output: json, inputSchema: json, outputSchema: json };
const SKILL = fields(
  {
    ...SCHEMA_FIELDS,
    id: text,
    name: text,
    description: text,
    tags: modes,
    examples: texts,
    inputModes: modes,
    outputModes: modes,
  },
  "id",
);
const CARD_FIELDS = {
  description: text,
  version: text,
  skills: { type: "array", items: SKILL, minItems: 1 },
  inputModes: modes,
  outputModes: modes,
  provider: fields({ organization: text, url: text }, "organization", "url"),
  documentationUrl: text,
  iconUrl: text,
  extensions: {
    type: "array",
    items: fields({ uri: text, description: text, required: boolean, params: json }, "uri"),
  },
};
const FIELDS = {
  name: true,
  ...CARD_FIELDS,
  ...SCHEMA_FIELDS,
  streaming: boolean,
  push: boolean,
  replies: { enum: ["task", "message"] },
  onCrash: { enum: ["resume", "fail", "ask"] },
  attempts: { type: "integer", minimum: 1, maximum: 1_000 },
  turns: { enum: ["queue", "reject", "parallel"] },
  acceptsWhileWorking: boolean,
  contextAnswers: boolean,
  closeArtifacts: boolean,
  answerInStatus: boolean,
  dedupe: { const: "messageId" },
  retention: fields({ ageMs: count(1), count: count(0), eventsAgeMs: count(1) }),
  stateTransitionHistory: boolean,
  extendedCard: fields(CARD_FIELDS),
  access: { enum: ["known", "public", "internal"] },
  tenants: modes,
  graph: true,
  run: true,
};
const findIssue = compileJsonSchema(fields(FIELDS));

export const FIELD_NAMES: readonly string[] = Object.keys(FIELDS);

export interface DefinitionIssue extends SchemaIssue {
  /** The field does not exist. */
  readonly isUnknown?: boolean;
}

/** The first thing that is wrong. */
export function findDefinitionIssue(definition: object): DefinitionIssue | undefined {
  const given = definition as Readonly<Record<string, unknown>>;
  if (!isAgentName(given.name))
    return { path: ["name"], message: `must be ${NAME_RULE}, got ${JSON.stringify(given.name)}` };
  if (typeof given.run !== "function") return { path: ["run"], message: "must be a function" };
  const issue = findIssue(toPlain(given));
  if (issue) return { ...issue, isUnknown: issue.message === UNKNOWN };
  return findUrlIssue(given, []) ?? findTenantIssue(given.tenants);
}

/** What the checker says of members that are not in a schema. */
const UNKNOWN = "is not allowed";

/** Fields whose values are not looked into: their libraries do that, or the check of schemas. */
const OPAQUE: ReadonlySet<string> = new Set([...Object.keys(SCHEMA_FIELDS), "params", "graph", "run"]);

/** Without members that are undefined. The card that a function returns is checked when it is called. */
function toPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== "object" || value === null) return value;
  const members: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(value)) {
    if (one === undefined || (name === "extendedCard" && typeof one === "function")) continue;
    members[name] = isStandardSchema(one) ? {} : OPAQUE.has(name) ? one : toPlain(one);
  }
  return members;
}

const URL_FIELDS = ["documentationUrl", "iconUrl"];

function findUrlIssue(
  card: Readonly<Record<string, unknown>>,
  path: readonly string[],
): SchemaIssue | undefined {
  for (const name of URL_FIELDS)
    if (card[name] !== undefined && !URL.canParse(card[name] as string))
      return { path: [...path, name], message: "must be a URL" };
  const { provider, extendedCard } = card as {
    readonly provider?: { readonly url: string };
    readonly extendedCard?: object;
  };
  if (provider && !URL.canParse(provider.url))
    return { path: [...path, "provider", "url"], message: "must be a URL" };
  return typeof extendedCard === "object"
    ? findUrlIssue(extendedCard as Readonly<Record<string, unknown>>, ["extendedCard"])
    : undefined;
}

function findTenantIssue(tenants: unknown): SchemaIssue | undefined {
  const at = ((tenants ?? []) as readonly unknown[]).findIndex(one => !isCallerName(one as string));
  return at === -1 ? undefined : { path: ["tenants", at], message: "must be the name of a tenant" };
}
