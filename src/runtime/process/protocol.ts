/** The lines that a program writes: docs/reference/program-protocol.md. */
import type { ArtifactContent, Content, DataOptions, FileContent, Questions } from "../../agent/content.ts";
import type { AgentOutput, Ctx } from "../../agent/context.ts";
import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import { describeValue } from "../shared/describe-value.ts";

export type ProgramLine = JsonObject & { readonly type: string };

export function parseLine(text: string): ProgramLine {
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    throw new Error(`not JSON: ${describeValue(text)}; write everything else to standard error`);
  }
  if (isObject(json) && typeof json.type === "string") return json as ProgramLine;
  throw new Error(`expected an object with a type, got ${describeValue(json)}`);
}

type ToOutput = (line: ProgramLine, ctx: Ctx) => AgentOutput;

const contentIn = ({ text, parts }: ProgramLine): Content => (parts ?? text) as Content;

/** Types after which the turn continues. */
export const OUTPUT_TYPES: Readonly<Record<string, ToOutput>> = {
  text: ({ type: _, text, ...options }, ctx) => ctx.text(text as string, options),
  data: ({ type: _, data, ...options }, ctx) => ctx.data(data, options as DataOptions),
  file: ({ type: _, ...file }, ctx) => ctx.file(file as unknown as FileContent),
  artifact: ({ type: _, ...artifact }, ctx) => ctx.artifact(artifact as unknown as ArtifactContent),
  status: (line, ctx) => ctx.status(contentIn(line)),
};

/** Types that end the turn. */
export const FINAL_TYPES: Readonly<Record<string, ToOutput>> = {
  ask: (line, ctx) => ctx.ask(contentIn(line)),
  askAll: ({ questions }, ctx) => ctx.askAll(questions as unknown as Questions),
  reply: (line, ctx) => ctx.reply(contentIn(line)),
  reject: (line, ctx) => ctx.reject(contentIn(line)),
  fail: (line, ctx) => ctx.fail(contentIn(line)),
};

/** Types that take effect immediately, also inside a step, and are no output. */
export const SIDE_TYPES: Readonly<Record<string, (line: ProgramLine, ctx: Ctx, facts: object) => void>> = {
  usage: ({ type: _, ...counters }, ctx) => ctx.usage(counters as Record<string, number>),
  log({ level, text, facts: more }, ctx, facts) {
    const method = LEVELS.find(one => one === level) ?? "info";
    ctx.log[method](
      { ...(isObject(more) && more), ...facts },
      String(text).slice(0, LIMITS.programLogCharsMax),
    );
  },
};
const LEVELS = ["debug", "info", "warn", "error"] as const;

const CONTROL_TYPES = ["done", "step", "stepped"];

export function unexpectedType({ type }: ProgramLine): Error {
  if (CONTROL_TYPES.includes(type)) return new Error(`unexpected ${type}: no step was started`);
  const known = [OUTPUT_TYPES, FINAL_TYPES, SIDE_TYPES].flatMap(types => Object.keys(types));
  const available = [...known, ...CONTROL_TYPES].join(", ");
  return new Error(`unknown type ${describeValue(type)}; available: ${available}`);
}
