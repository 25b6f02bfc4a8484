/** Finds the agents among the exports of a file, and validates their definitions. */
import { basename, dirname, extname } from "node:path";
import { z } from "zod";
import { toAgentSchemas } from "../agent/agent-schemas.ts";
import {
  type AgentDefinition,
  type AgentFunction,
  agent,
  isAgent,
  isAgentName,
  NAME_RULE,
} from "../agent/definition.ts";
import { type DataSchema, isStandardSchema } from "../agent/schema.ts";
import { didYouMean } from "../lib/did-you-mean.ts";
import { formatPath } from "../lib/json-schema-check.ts";
import type { StartupError } from "../lib/startup-error.ts";
import { isCallerName } from "../model/index.ts";
import { createLoadError, findLine } from "./load-error.ts";

const text = z.string().min(1);
const modes = z.array(text).min(1);
const url = z.url();
const json = z.record(z.string(), z.json());

const schema = z.custom<DataSchema>(
  given => isStandardSchema(given) || json.safeParse(given).success,
  "expected a Standard Schema, such as one of zod, valibot or arktype, or a JSON Schema",
);
const SCHEMAS = {
  input: schema.optional(),
  output: schema.optional(),
  inputSchema: json.optional(),
  outputSchema: json.optional(),
};
const SKILL = z.strictObject({
  ...SCHEMAS,
  id: text,
  name: text.optional(),
  description: text.optional(),
  tags: modes.optional(),
  examples: z.array(text).optional(),
  inputModes: modes.optional(),
  outputModes: modes.optional(),
});
const EXTENSION = z.strictObject({
  uri: text,
  description: text.optional(),
  required: z.boolean().optional(),
  params: json.optional(),
});
const CARD_FIELDS = {
  description: text.optional(),
  version: text.optional(),
  skills: z.array(SKILL).min(1).optional(),
  inputModes: modes.optional(),
  outputModes: modes.optional(),
  provider: z.strictObject({ organization: text, url }).optional(),
  documentationUrl: url.optional(),
  iconUrl: url.optional(),
  extensions: z.array(EXTENSION).optional(),
};
const EXTENDED_CARD = z.strictObject(CARD_FIELDS);
const DEFINITION = z.strictObject({
  name: z.string().refine(isAgentName, `expected ${NAME_RULE}`),
  ...CARD_FIELDS,
  streaming: z.boolean().optional(),
  push: z.boolean().optional(),
  ...SCHEMAS,
  replies: z.enum(["task", "message"]).optional(),
  onCrash: z.enum(["resume", "fail", "ask"]).optional(),
  attempts: z.int().min(1).max(1_000).optional(),
  turns: z.enum(["queue", "reject", "parallel"]).optional(),
  acceptsWhileWorking: z.boolean().optional(),
  contextAnswers: z.boolean().optional(),
  closeArtifacts: z.boolean().optional(),
  answerInStatus: z.boolean().optional(),
  dedupe: z.literal("messageId").optional(),
  retention: z
    .strictObject({
      ageMs: z.int().min(1).optional(),
      count: z.int().min(0).optional(),
      eventsAgeMs: z.int().min(1).optional(),
    })
    .optional(),
  stateTransitionHistory: z.boolean().optional(),
  // The result of a function is validated when it is called.
  extendedCard: z.preprocess(given => (typeof given === "function" ? {} : given), EXTENDED_CARD.optional()),
  access: z.enum(["known", "public", "internal"]).optional(),
  tenants: z.array(z.string().refine(isCallerName, "expected the name of a tenant")).min(1).optional(),
  graph: z.custom<AgentDefinition["graph"]>(() => true).optional(),
  run: z.custom<AgentFunction>(run => typeof run === "function", "expected a function"),
});

const EXAMPLE = `Export an agent:
  import { agent } from "dragoman";
  export default agent({
    name: "echo",
    async *run(task, ctx) { yield ctx.text(task.text); },
  });`;

/** A default export that is an agent's definition or just its function, and every export that was made with agent(). */
export function findDefinitions(
  module: Readonly<Record<string, unknown>>,
  file: string,
): readonly AgentDefinition[] {
  const found = new Set<unknown>();
  if (hasRun(module.default)) found.add(module.default);
  for (const exported of Object.values(module)) if (isAgent(exported)) found.add(exported);
  // An incomplete definition: the missing field is the better reason.
  if (found.size === 0 && isObject(module.default)) found.add(module.default);
  if (found.size === 0) throw missingAgent(module, file);
  return [...found].map(exported => toDefinition(exported, file));
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const hasRun = (value: unknown): boolean =>
  typeof value === "function" || (isObject(value) && "run" in value);

function missingAgent(module: Readonly<Record<string, unknown>>, file: string): StartupError {
  return createLoadError({
    file,
    line: findLine(file, text => text.startsWith("export default")),
    reason: `The file exports no agent: ${describeExports(module)}`,
    hint: `${EXAMPLE}\n(folders and globs skip files whose names begin with _: use such names for helpers)`,
  });
}

function describeExports(module: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(module).slice(0, 5);
  if (names.length === 0) return "it exports nothing";
  if (module.default === undefined) return `its exports (${names.join(", ")}) were not made with agent()`;
  return `its default export is ${Array.isArray(module.default) ? "an array" : `a ${typeof module.default}`}`;
}

/** `file`: the folder of the config, where the config contains the agent itself. */
export function toDefinition(exported: unknown, file: string): AgentDefinition {
  const plain =
    typeof exported === "function" ? { run: exported as AgentFunction } : (exported as AgentDefinition);
  const name = "name" in plain ? plain.name : nameFromFile(file);
  const definition = isAgent(plain) ? plain : { ...plain, name, run: plain.run };
  const result = DEFINITION.safeParse(definition);
  if (!result.success) throw invalidDefinition(result.error.issues[0] as z.core.$ZodIssue, definition, file);
  checkSchemas(definition, file);
  return isAgent(plain) ? plain : agent({ ...definition, run: plain.run.bind(plain) });
}

/** Schemas that cannot be checked or shown to callers. */
function checkSchemas(definition: AgentDefinition, file: string): void {
  try {
    toAgentSchemas(definition);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const [key = ""] = /(in|out)put/.exec(reason) ?? [];
    throw createLoadError({
      file,
      line: lineOfKey(file, [key]),
      reason: `The schemas of the agent ${definition.name}: ${reason}`,
      cause: error,
    });
  }
}

/** The name of the file, or of its folder if the file is an index. */
function nameFromFile(file: string): string {
  const name = basename(file, extname(file));
  return name === "index" ? basename(dirname(file)) : name;
}

function invalidDefinition(issue: z.core.$ZodIssue, definition: object, file: string): StartupError {
  if (issue.code === "unrecognized_keys") return unknownKey(issue.path, issue.keys[0] as string, file);
  const isName = issue.path.length === 1 && issue.path[0] === "name";
  const got = isName ? `, got ${JSON.stringify((definition as { name?: unknown }).name)}` : "";
  return createLoadError({
    file,
    line: lineOfKey(file, issue.path),
    reason: `The agent's ${formatPath(issue.path)} is invalid: ${issue.message}${got}`,
    hint: isName ? 'Give the agent a name: agent({ name: "my-agent", … }), or rename the file' : EXAMPLE,
  });
}

function unknownKey(path: readonly PropertyKey[], key: string, file: string): StartupError {
  const known = path.length === 0 ? Object.keys(DEFINITION.shape) : [];
  return createLoadError({
    file,
    line: lineOfKey(file, [key]),
    reason: `An agent has no ${formatPath([...path, key])}${didYouMean(key, known)}`,
    hint: "Rename or remove it",
  });
}

/** An approximation: the first line that contains the innermost key. */
function lineOfKey(file: string, path: readonly PropertyKey[]): number | undefined {
  const key = path.findLast(part => typeof part === "string");
  if (key === undefined) return undefined;
  return findLine(file, text => [`${key}:`, `${key}(`, `"${key}"`].some(spelling => text.includes(spelling)));
}
