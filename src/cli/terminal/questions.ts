/** What an agent asks for, from the data parts of its message. */
import { asObject, asText } from "../../client/read.ts";
import { defined } from "../../lib/json.ts";
import type { Message, Part } from "../../model/index.ts";

/** The questions of `ctx.askAll`: data parts with an id and a text. */
export function readQuestions(message: Message | undefined): readonly { id: string; question: string }[] {
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
