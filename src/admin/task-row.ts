import { isHidden, isTerminal, type Message, type Part, type Task, textOf } from "../model/index.ts";
import type { OwnedTask } from "../ports/index.ts";
import type { TaskRow } from "./api.ts";

const TITLE_CHARS = 120;
const TEXT_CHARS = 240;

export function toTaskRow({ scope, task, seq }: OwnedTask): TaskRow {
  const { status, usage, cancel } = task;
  return {
    id: task.id,
    alias: task.alias ?? null,
    agent: task.agent,
    contextId: task.contextId,
    state: status.state,
    title: shorten(describeParts((task.history[0] ?? task.message)?.parts ?? []), TITLE_CHARS),
    text: shorten(newestText(task), TEXT_CHARS),
    tenant: scope.tenant,
    principal: scope.principal,
    dialect: task.origin,
    turns: task.turn,
    runs: task.attempt,
    crashes: task.crashes,
    events: seq,
    createdAt: task.createdAt,
    stateAt: status.at,
    endedAt: isTerminal(status.state) ? status.at : null,
    cancelAt: cancel?.at ?? null,
    isReply: isHidden(task),
    usage: usage ?? null,
  };
}

export const titleOf = (task: Task): string =>
  shorten(describeParts((task.history[0] ?? task.message)?.parts ?? []), TITLE_CHARS);

function newestText({ reply, status, artifacts }: Task): string {
  if (reply) return describeParts(reply.parts);
  if (status.message) return describeParts(status.message.parts);
  return describeParts(artifacts.at(-1)?.parts ?? []);
}

/** The text; without text, what else there is. */
function describeParts(parts: readonly Part[]): string {
  const first = parts.find(part => part.kind === "text");
  if (first?.kind === "text" && first.text.length > TEXT_CHARS) return first.text;
  const text = textOf(parts);
  if (text.trim() !== "") return text;
  return parts
    .slice(0, 10)
    .map(part => part.filename ?? (part.kind === "data" ? JSON.stringify(part.data) : part.kind))
    .join(", ");
}

/** One line, at most so many characters; a pair of surrogates is not cut. */
function shorten(text: string, charsMax: number): string {
  const line = text
    .slice(0, 4 * charsMax)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > charsMax
    ? `${line
        .slice(0, charsMax - 1)
        .toWellFormed()
        .replace(/\uFFFD$/, "")}…`
    : line;
}

/** Whether the text is in the ids, messages, answers or status of the task. `text`: in lower case. */
export function containsText(task: Task, text: string): boolean {
  const has = (where: string | undefined): boolean => where?.toLowerCase().includes(text) ?? false;
  const inParts = (parts: readonly Part[]): boolean => parts.some(part => has(searchable(part)));
  const inMessage = (message: Message | undefined): boolean =>
    message !== undefined && inParts(message.parts);
  return (
    has(task.id) ||
    has(task.alias) ||
    has(task.contextId) ||
    task.history.some(inMessage) ||
    inMessage(task.status.message) ||
    inMessage(task.reply) ||
    task.artifacts.some(artifact => has(artifact.name) || inParts(artifact.parts))
  );
}

function searchable(part: Part): string | undefined {
  if (part.kind === "text") return part.text;
  if (part.kind === "data") return JSON.stringify(part.data);
  return part.kind === "url" ? part.url : part.filename;
}
