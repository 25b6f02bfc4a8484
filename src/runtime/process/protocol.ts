/** What a line of a program means. */
import type {
  ArtifactContent,
  Content,
  Ctx,
  DataOptions,
  FileContent,
  Questions,
  Said,
} from "../../agent/definition.ts";
import { isObject, type Json, type JsonObject } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import { describe } from "../function/content.ts";

export type Line = JsonObject & { readonly type: string };

/** Throws what is wrong with it. */
export function readLine(text: string): Line {
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    throw new Error(
      `it is not JSON: ${describe(text)}; print to standard error what is not meant for callers`,
    );
  }
  if (isObject(json) && typeof json.type === "string") return json as Line;
  throw new Error(`it must be an object with a type, got ${describe(json)}`);
}

type Verb = (line: Line, ctx: Ctx) => Said;

const contentIn = ({ text, parts }: Line): Content => (parts ?? text) as Content;

/** After these the turn goes on. */
export const SAYINGS: Readonly<Record<string, Verb>> = {
  text: ({ type: _, text, ...options }, ctx) => ctx.text(text as string, options),
  data: ({ type: _, data, ...options }, ctx) => ctx.data(data, options as DataOptions),
  file: ({ type: _, ...file }, ctx) => ctx.file(file as unknown as FileContent),
  artifact: ({ type: _, ...artifact }, ctx) => ctx.artifact(artifact as unknown as ArtifactContent),
  status: (line, ctx) => ctx.status(contentIn(line)),
};

/** After these it is over. */
export const ENDS: Readonly<Record<string, Verb>> = {
  ask: (line, ctx) => ctx.ask(contentIn(line)),
  askAll: ({ questions }, ctx) => ctx.askAll(questions as unknown as Questions),
  reply: (line, ctx) => ctx.reply(contentIn(line)),
  reject: (line, ctx) => ctx.reject(contentIn(line)),
  fail: (line, ctx) => ctx.fail(contentIn(line)),
};

/** Heard at once, and nothing that a caller gets. */
export const ASIDES: Readonly<Record<string, (line: Line, ctx: Ctx, facts: object) => void>> = {
  usage: ({ type: _, ...counters }, ctx) => ctx.usage(counters as Record<string, number>),
  log({ level, text, facts: more }, ctx, facts) {
    const write = LEVELS.find(one => one === level) ?? "info";
    ctx.log[write](
      { ...(isObject(more) && more), ...facts },
      String(text).slice(0, LIMITS.programLogCharsMax),
    );
  },
};
const LEVELS = ["debug", "info", "warn", "error"] as const;

const CONTROLS = ["done", "step", "stepped"];

/** Nothing can be made of it, at least not here. */
export function unknown({ type }: Line): Error {
  if (CONTROLS.includes(type)) return new Error(`${type} means nothing here: no step was begun`);
  const known = [SAYINGS, ENDS, ASIDES].flatMap(verbs => Object.keys(verbs));
  return new Error(`there is no type ${describe(type)}; there are: ${[...known, ...CONTROLS].join(", ")}`);
}
