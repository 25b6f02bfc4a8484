/** What an agent asks for, from the data parts of its message. */
import { defined, type Json } from "../lib/json.ts";
import { type DataPart, type Message, type Part, textOf } from "../model/index.ts";
import { asObject, asText } from "./read.ts";
import type { RemoteTask } from "./types.ts";

/** A question of an agent. */
export interface AgentQuestion {
  /** Empty: it is answered with any message. */
  readonly id: string;
  readonly question: string;
}

/** What a task that waits for input asks; none: it does not wait for input. */
export function questionsOf({
  state,
  message,
}: Pick<RemoteTask, "state" | "message">): readonly AgentQuestion[] {
  if (state !== "input-required") return [];
  const questions = readQuestions(message);
  return questions.length > 0 ? questions : [{ id: "", question: textOf(message?.parts ?? []) }];
}

/** The content that answers several questions by their ids. */
export const answers = (values: Readonly<Record<string, Json>>): DataPart => ({
  kind: "data",
  data: { resume: Object.entries(values).map(([id, value]) => ({ id, value })) },
});

/** The questions of `ctx.askAll`: data parts with an id and a text. */
export function readQuestions(message: Message | undefined): readonly AgentQuestion[] {
  return (message?.parts ?? []).flatMap(part => {
    const { id, question } = part.kind === "data" ? asObject(part.data) : {};
    return typeof id === "string" && typeof question === "string" ? [{ id, question }] : [];
  });
}

/** The data part of `ctx.askAuth`. */
export function readAuthorization(message: Message | undefined): { name?: string; url?: string } | undefined {
  for (const part of message?.parts ?? []) {
    if (part.kind !== "data" || asObject(part.data).authorization === undefined) continue;
    const { name, url } = asObject(asObject(part.data).authorization);
    return defined<{ name?: string; url?: string }>({ name: asText(name), url: asText(url) });
  }
  return undefined;
}

/** Parts for programs, whose content the text repeats for people. */
export const isForPrograms = (part: Part): boolean =>
  part.kind === "data" &&
  (asObject(part.data).authorization !== undefined || typeof asObject(part.data).question === "string");
