import { type Json, LIMITS, type Message, type Part, type Task, type TaskEvent } from "../model/index.ts";
import type { AgentEvent } from "../ports.ts";

/** The agent said something that is no event: its author must hear of it, its caller must not. */
export class BadAgentEvent extends Error {
  override readonly name = "BadAgentEvent";
}

/** What an agent said, checked and made ready to be recorded: one agent's nonsense must not reach the log. */
export function toTaskEvent(event: AgentEvent, task: Task): TaskEvent {
  switch (event?.type) {
    case "artifact": {
      const { artifact } = event;
      if (typeof artifact?.artifactId !== "string" || artifact.artifactId === "")
        throw new BadAgentEvent("an artifact needs an artifactId");
      const parts = checkParts(artifact.parts, "an artifact");
      if (parts === artifact.parts && !artifact.metadata && !event.metadata) return event;
      return plain({ ...event, artifact: plain({ ...artifact, parts }) });
    }
    case "status":
      return event.message ? { ...event, message: checkMessage(event.message, task) } : event;
    case "reply":
      return { type: "reply", message: checkMessage(event.message, task) };
    case "usage":
      return { type: "usage", usage: checkUsage(event.usage) };
    default:
      throw new BadAgentEvent(`${describe(event)} is not something an agent can say`);
  }
}

function checkMessage(message: Message, task: Task): Message {
  const parts = checkParts(message.parts, "a message");
  return plain({ ...message, parts, role: "agent", contextId: task.contextId });
}

function checkParts(parts: readonly Part[], whose: string): readonly Part[] {
  if (!Array.isArray(parts) || parts.length === 0)
    throw new BadAgentEvent(`${whose} needs at least one part`);
  if (parts.length > LIMITS.partsMax)
    throw new BadAgentEvent(`${whose} has more than ${LIMITS.partsMax} parts`);
  let size = 0;
  let dirty = false;
  for (const part of parts as readonly Part[]) {
    size += sizeOf(part);
    dirty ||= part.kind === "data";
  }
  if (size > LIMITS.eventBytesMax)
    throw new BadAgentEvent(
      `${whose} is larger than ${LIMITS.eventBytesMax} bytes; send it in several pieces`,
    );
  return dirty ? (parts as readonly Part[]).map(cleanPart) : parts;
}

function sizeOf(part: Part): number {
  if (part?.kind === "text" && typeof part.text === "string") return part.text.length;
  if (part?.kind === "bytes" && typeof part.bytes === "string") return part.bytes.length;
  if (part?.kind === "url" && typeof part.url === "string") return part.url.length;
  if (part?.kind === "data") return 0;
  throw new BadAgentEvent(`${describe(part)} is not a part: it needs text, bytes, url or data`);
}

const cleanPart = (part: Part): Part =>
  part.kind === "data" ? { ...part, data: toJson(part.data, "data") } : part;

/** Data as it will be read back: what JSON cannot say is refused here and not in the middle of a commit. */
function toJson(value: unknown, what: string): Json {
  try {
    const text = JSON.stringify(value);
    if (text === undefined) throw new TypeError(`${describe(value)} has no JSON form`);
    if (text.length > LIMITS.eventBytesMax)
      throw new TypeError(`it is larger than ${LIMITS.eventBytesMax} bytes`);
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new BadAgentEvent(`${what} cannot be sent: ${(error as Error).message}`);
  }
}

/** Metadata is free JSON as well. */
function plain<T extends { readonly metadata?: unknown }>(value: T): T {
  return value.metadata === undefined ? value : { ...value, metadata: toJson(value.metadata, "metadata") };
}

function checkUsage(usage: unknown): Record<string, number> {
  const clean: Record<string, number> = {};
  for (const [name, count] of Object.entries((usage ?? {}) as object))
    if (typeof count === "number" && Number.isFinite(count)) clean[name] = count;
  return clean;
}

function describe(value: unknown): string {
  if (value === null || typeof value !== "object") return String(value);
  return `an object with ${Object.keys(value).slice(0, 5).join(", ") || "nothing in it"}`;
}
