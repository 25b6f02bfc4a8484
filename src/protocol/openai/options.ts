import type { Json, JsonObject } from "../../lib/json.ts";
import { invalidField, isObject, readBoolean, readMetadata } from "../shared/fields.ts";

/**
 * Parameters of a model that an agent may not have. What would change the form of the answer is refused; hints for a model
 * are passed to the agent, in the metadata of the message; the rest is ignored.
 */

/** Passed on, with their types: `task.message.metadata.openai`. */
const HINTS = {
  frequency_penalty: "number",
  max_completion_tokens: "number",
  max_output_tokens: "number",
  max_tokens: "number",
  presence_penalty: "number",
  previous_response_id: "string",
  reasoning: "object",
  reasoning_effort: "string",
  seed: "number",
  temperature: "number",
  top_p: "number",
  truncation: "string",
  user: "string",
  verbosity: "string",
} as const;

/** Refused unless they have a value that means nothing. */
const REFUSED: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: value => value === 1,
  logprobs: value => value === false,
  top_logprobs: value => value === 0,
  logit_bias: value => isObject(value as never) && Object.keys(value as object).length === 0,
  stop: value => Array.isArray(value) && value.length === 0,
  audio: () => false,
  modalities: value => Array.isArray(value) && value.every(one => one === "text"),
  prediction: () => false,
  web_search_options: () => false,
  prompt: () => false,
  max_tool_calls: () => false,
  include: value => !Array.isArray(value) || !value.includes("message.output_text.logprobs"),
};

export function checkOptions(body: JsonObject): void {
  for (const [name, isNeutral] of Object.entries(REFUSED)) {
    const value = body[name];
    if (value !== undefined && value !== null && !isNeutral(value))
      throw invalidField(name, "is not supported by agents; omit it");
  }
  for (const name of ["tool_choice", "function_call"]) {
    const choice = body[name];
    if (choice !== undefined && choice !== null && choice !== "auto" && choice !== "none")
      throw invalidField(
        name,
        'must be "auto" or "none": agents call their own tools, not those of the caller',
      );
  }
}

export function readHints(body: JsonObject): JsonObject | undefined {
  const hints: [name: string, value: Json][] = [];
  for (const [name, type] of Object.entries(HINTS)) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== type || Array.isArray(value))
      throw invalidField(name, `must be ${type === "object" ? "an object" : `a ${type}`}`);
    hints.push([name, value]);
  }
  return hints.length === 0 ? undefined : { openai: Object.fromEntries(hints) };
}

const METADATA_MAX = 16;

/** Up to 16 strings. */
export function readLabels(body: JsonObject): JsonObject | undefined {
  const metadata = readMetadata(body, "");
  if (!metadata) return undefined;
  const values = Object.values(metadata);
  if (values.length > METADATA_MAX)
    throw invalidField("metadata", `must have at most ${METADATA_MAX} entries`);
  if (values.some(value => typeof value !== "string"))
    throw invalidField("metadata", "must have strings as values");
  return values.length === 0 ? undefined : metadata;
}

/** Whether JSON is wanted. `field`: the parameter with the format. */
export function wantsJson(format: unknown, field: string): boolean {
  if (format === undefined || format === null) return false;
  const type = isObject(format as never) ? (format as JsonObject).type : undefined;
  if (type === "text") return false;
  if (type === "json_object" || type === "json_schema") return true;
  throw invalidField(`${field}.type`, 'must be "text", "json_object" or "json_schema"');
}

export const isStream = (body: JsonObject): boolean => readBoolean(body, "stream", "") ?? false;
