/** Whether what a file exports is an agent. */
import { basename, dirname, extname } from "node:path";
import { z } from "zod";
import {
  type AgentDefinition,
  type AgentFunction,
  agent,
  isAgent,
  isAgentName,
  NAME_RULE,
} from "../agent/definition.ts";
import { hint } from "../lib/did-you-mean.ts";
import { isCallerName } from "../model/index.ts";
import { lineWith } from "./error-location.ts";
import { LoadFailure } from "./load-error.ts";

const text = z.string().min(1);
const modes = z.array(text).min(1);
const url = z.url();
const json = z.record(z.string(), z.json());

const SKILL = z.strictObject({
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
const TOLD = {
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
const EXTENDED = z.strictObject(TOLD);
const DEFINITION = z.strictObject({
  name: z.string().refine(isAgentName, `expected ${NAME_RULE}`),
  ...TOLD,
  streaming: z.boolean().optional(),
  push: z.boolean().optional(),
  inputSchema: json.optional(),
  replies: z.enum(["task", "message"]).optional(),
  onCrash: z.enum(["resume", "fail", "ask"]).optional(),
  attempts: z.int().min(1).max(1_000).optional(),
  turns: z.enum(["queue", "reject", "parallel"]).optional(),
  acceptsWhileWorking: z.boolean().optional(),
  dedupe: z.literal("messageId").optional(),
  retention: z
    .strictObject({
      ageMs: z.int().min(1).optional(),
      count: z.int().min(0).optional(),
      eventsAgeMs: z.int().min(1).optional(),
    })
    .optional(),
  stateTransitionHistory: z.boolean().optional(),
  // What a function will give is seen when it is called.
  extendedCard: z.preprocess(given => (typeof given === "function" ? {} : given), EXTENDED.optional()),
  access: z.enum(["known", "public"]).optional(),
  tenants: z.array(z.string().refine(isCallerName, "expected the name of a tenant")).min(1).optional(),
  run: z.custom<AgentFunction>(run => typeof run === "function", "expected a function"),
});

const EXAMPLE = `Export an agent:
  import { agent } from "dragoman";
  export default agent({
    name: "echo",
    async *run(task, ctx) { yield ctx.text(task.text); },
  });`;

/** A default export that is an agent's definition or just its function, and every export that was made with agent(). */
export function definitionsOf(
  module: Readonly<Record<string, unknown>>,
  file: string,
): readonly AgentDefinition[] {
  const found = new Set<unknown>();
  if (hasRun(module.default)) found.add(module.default);
  for (const exported of Object.values(module)) if (isAgent(exported)) found.add(exported);
  // An object that lacks what makes an agent: what it lacks is the better reason.
  if (found.size === 0 && isObject(module.default)) found.add(module.default);
  if (found.size === 0) throw noAgent(module, file);
  return [...found].map(one => toDefinition(one, file));
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const hasRun = (value: unknown): boolean =>
  typeof value === "function" || (isObject(value) && "run" in value);

function noAgent(module: Readonly<Record<string, unknown>>, file: string): LoadFailure {
  return new LoadFailure({
    file,
    line: lineWith(file, text => text.startsWith("export default")),
    reason: `It exports no agent: ${describeExports(module)}`,
    cure: `${EXAMPLE}\n(a helper beside agents may begin its name with _: such files are left out of folders and globs)`,
  });
}

function describeExports(module: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(module).slice(0, 5);
  if (names.length === 0) return "it exports nothing";
  if (module.default === undefined) return `what it exports (${names.join(", ")}) was not made with agent()`;
  return `its default export is ${Array.isArray(module.default) ? "an array" : `a ${typeof module.default}`}`;
}

/** The same for an agent that was handed in as an object; then there may be no file. */
export function toDefinition(exported: unknown, file: string): AgentDefinition {
  const plain =
    typeof exported === "function" ? { run: exported as AgentFunction } : (exported as AgentDefinition);
  const name = "name" in plain ? plain.name : nameOf(file);
  const definition = isAgent(plain) ? plain : { ...plain, name, run: plain.run };
  const result = DEFINITION.safeParse(definition);
  if (!result.success) throw wrongShape(result.error.issues[0] as z.core.$ZodIssue, definition, file);
  return isAgent(plain) ? plain : agent({ ...definition, run: plain.run.bind(plain) });
}

/** A function without a name is called like its file, or like its folder if the file is an index. */
function nameOf(file: string): string {
  const name = basename(file, extname(file));
  return name === "index" ? basename(dirname(file)) : name;
}

function wrongShape(issue: z.core.$ZodIssue, definition: object, file: string): LoadFailure {
  if (issue.code === "unrecognized_keys") return unknownKey(issue.path, issue.keys[0] as string, file);
  const isName = issue.path.length === 1 && issue.path[0] === "name";
  const got = isName ? `, got ${JSON.stringify((definition as { name?: unknown }).name)}` : "";
  return new LoadFailure({
    file,
    line: lineOfKey(file, issue.path),
    reason: `The agent's ${at(issue.path)} is wrong: ${issue.message}${got}`,
    cure: isName ? 'Give the agent a name: agent({ name: "my-agent", … }), or rename the file' : EXAMPLE,
  });
}

function unknownKey(path: readonly PropertyKey[], key: string, file: string): LoadFailure {
  const known = path.length === 0 ? Object.keys(DEFINITION.shape) : [];
  return new LoadFailure({
    file,
    line: lineOfKey(file, [key]),
    reason: `An agent has no ${at([...path, key])}${hint(key, known)}`,
    cure: "Rename it or take it out",
  });
}

/** A guess: the first line where the innermost named key is written. */
function lineOfKey(file: string, path: readonly PropertyKey[]): number | undefined {
  const key = path.findLast(part => typeof part === "string");
  if (key === undefined) return undefined;
  return lineWith(file, text => [`${key}:`, `${key}(`, `"${key}"`].some(spelling => text.includes(spelling)));
}

/** `skills[0].id` */
const at = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((all, part) => {
    if (typeof part === "number") return `${all}[${part}]`;
    return all === "" ? String(part) : `${all}.${String(part)}`;
  }, "");
