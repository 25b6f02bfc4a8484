import { defined, type Json } from "../lib/json.ts";
import {
  type Artifact,
  CREDENTIAL_NAME_RULE,
  isCredentialName,
  LIMITS,
  type Message,
  type Part,
  type StepRecord,
  TASK_STATES,
  type TaskEvent,
  type TaskState,
} from "../model/index.ts";
import type { AgentEvent } from "../ports/index.ts";

/** The agent emitted an invalid event: an error for its author, not for its caller. */
export class BadAgentEvent extends Error {
  override readonly name = "BadAgentEvent";
}

/**
 * Validates an agent's event. An invalid one must not reach the log: it would fail the commit that it shares with other runs.
 * Plain text, the most frequent output, is not copied.
 */
export function toTaskEvent(event: AgentEvent): TaskEvent {
  if (isPlainText(event)) return event;
  const copy = toJson(event);
  if (!isRecord(copy)) throw new BadAgentEvent(`${describe(event)} is not an agent event`);
  switch (copy.type) {
    case "artifact":
      return readArtifactEvent(copy);
    case "status":
      return readStatus(copy);
    case "reply":
      return { type: "reply", message: readMessage(copy.message) };
    case "chunk":
      return readChunk(copy);
    case "usage":
      return {
        type: "usage",
        usage: readUsage(copy.usage),
        ...(typeof copy.of === "string" && { of: copy.of }),
      };
    default:
      throw new BadAgentEvent(`${describe(copy)} is not an agent event`);
  }
}

/** The event of a step as it will be read back, and the size of its result. */
export function toStepEvent(step: StepRecord): { readonly event: TaskEvent; readonly bytes: number } {
  const { kind, name, nth, value, threw } = step;
  if (typeof name !== "string" || name.length > LIMITS.idCharsMax)
    throw new BadAgentEvent(`the name of a ${kind} has at most ${LIMITS.idCharsMax} characters`);
  const text = toText(value);
  const copy: StepRecord = { kind, name, nth, value: toCopy(text) as Json };
  return { event: { type: "noted", note: threw ? { ...copy, threw } : copy }, bytes: text.length };
}

/** Roughly the size of an event's content. */
export function contentSize(event: TaskEvent): number {
  if (event.type !== "artifact") return 0;
  let bytes = 0;
  for (const part of event.artifact.parts) {
    if (part.kind === "text") bytes += part.text.length;
    else if (part.kind === "bytes") bytes += part.bytes.length;
    else if (part.kind === "data") bytes += JSON.stringify(part.data).length;
  }
  return bytes;
}

type Loose = { readonly [name: string]: unknown };
const isRecord = (value: unknown): value is Loose =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An artifact of one text part and nothing else that needs validation. */
function isPlainText(event: AgentEvent): boolean {
  if (event?.type !== "artifact" || event.metadata !== undefined || hasToJson(event)) return false;
  const { artifact, append, last, join } = event;
  if (typeof append !== "boolean" || typeof last !== "boolean" || typeof join !== "boolean") return false;
  return isPlainArtifact(artifact) && isPlainPart(artifact.parts);
}

function isPlainArtifact(artifact: Artifact): boolean {
  if (typeof artifact?.artifactId !== "string" || artifact.artifactId === "" || hasToJson(artifact))
    return false;
  if (artifact.artifactId.length > LIMITS.idCharsMax) return false;
  const { name, description, metadata, extensions } = artifact;
  if (description !== undefined || metadata !== undefined || extensions !== undefined) return false;
  return name === undefined || typeof name === "string";
}

function isPlainPart(parts: readonly Part[]): boolean {
  const part = Array.isArray(parts) && parts.length === 1 ? (parts[0] as Part) : undefined;
  if (part?.kind !== "text" || typeof part.text !== "string" || hasToJson(part)) return false;
  if (part.mediaType !== undefined || part.filename !== undefined || part.metadata !== undefined)
    return false;
  return part.text.length <= LIMITS.eventBytesMax;
}

const hasToJson = (value: object): boolean => (value as { toJSON?: unknown }).toJSON !== undefined;

/** A copy as it will be read back: values that JSON cannot express are refused here and not in the middle of a commit. */
function toJson(value: unknown): unknown {
  const text = toText(value);
  if (text.length > LIMITS.eventBytesMax)
    throw new BadAgentEvent(
      `the event has more than ${LIMITS.eventBytesMax} bytes; send it in several pieces`,
    );
  return toCopy(text);
}

function toCopy(text: string): unknown {
  const copy: unknown = JSON.parse(text);
  if (isDeeper(copy, LIMITS.eventDepthMax))
    throw new BadAgentEvent(`the event is nested deeper than ${LIMITS.eventDepthMax} levels`);
  return copy;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some(inner => isDeeper(inner, levels - 1));
  for (const name in value) if (isDeeper((value as Loose)[name], levels - 1)) return true;
  return false;
}

function toText(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new BadAgentEvent(`the event cannot be serialized: ${(error as Error).message}`);
  }
  if (text === undefined) throw new BadAgentEvent(`${describe(value)} is not an agent event`);
  return text;
}

function readArtifactEvent(event: Loose): TaskEvent {
  const { artifact } = event;
  if (!isRecord(artifact)) throw new BadAgentEvent("an artifact event needs an artifact");
  if (!isText(artifact.artifactId) || artifact.artifactId === "")
    throw new BadAgentEvent("an artifact needs an artifactId");
  checkOptional(artifact, "an artifact", {
    name: isText,
    description: isText,
    metadata: isRecord,
    extensions: isTexts,
  });
  checkParts(artifact.parts, "an artifact");
  checkOptional(event, "an artifact event", {
    append: isFlag,
    last: isFlag,
    join: isFlag,
    metadata: isRecord,
  });
  const { append = false, last = false, join = false } = event;
  return { ...event, append, last, join } as TaskEvent;
}

function readChunk({ mode, ns, data }: Loose): TaskEvent {
  if (!isText(mode) || mode === "" || data === undefined || (ns !== undefined && !isTexts(ns)))
    throw new BadAgentEvent("a chunk needs a mode and data, and its ns is a list of texts");
  return { type: "chunk", mode, ...defined({ ns }), data } as TaskEvent;
}

function readStatus(event: Loose): TaskEvent {
  const state = TASK_STATES.find(one => one === event.state);
  if (!state || state === "submitted")
    throw new BadAgentEvent(`${describe(event.state)} is not a state that an agent can report`);
  checkOptional(event, "a status", { metadata: isRecord });
  checkAsks(event.asks, state);
  checkAuth(event.auth, state);
  const message = event.message === undefined ? undefined : readMessage(event.message);
  const { asks, auth, metadata } = event;
  // No other members: only the runner may set `broken` and `again`.
  return { type: "status", state, ...defined({ message, asks, auth, metadata }) } as TaskEvent;
}

function checkAsks(asks: unknown, state: TaskState): void {
  if (asks === undefined) return;
  if (state !== "input-required")
    throw new BadAgentEvent(`asks needs the state input-required, not ${state}`);
  if (!Array.isArray(asks) || asks.length === 0 || asks.length > LIMITS.listEntriesMax)
    throw new BadAgentEvent(`asks must be an array of 1 to ${LIMITS.listEntriesMax} ids of questions`);
  if (new Set(asks).size < asks.length || !asks.every(isAskId))
    throw new BadAgentEvent(`ids of questions must be unique and have 1 to ${LIMITS.idCharsMax} characters`);
}

function checkAuth(auth: unknown, state: TaskState): void {
  if (auth === undefined) return;
  if (state !== "auth-required") throw new BadAgentEvent(`auth needs the state auth-required, not ${state}`);
  const isRight = isRecord(auth) && isCredentialName(auth.name) && isAskId(auth.scheme);
  if (!isRight) throw new BadAgentEvent(`auth needs a scheme and a name: ${CREDENTIAL_NAME_RULE}`);
}

const isAskId: Check = id => typeof id === "string" && id !== "" && id.length <= LIMITS.idCharsMax;

function readMessage(message: unknown): Message {
  if (!isRecord(message)) throw new BadAgentEvent("a message is missing");
  if (!isText(message.messageId) || message.messageId === "")
    throw new BadAgentEvent("a message needs a messageId");
  checkOptional(message, "a message", {
    taskId: isText,
    contextId: isText,
    metadata: isRecord,
    extensions: isTexts,
    referenceTaskIds: isTexts,
  });
  checkParts(message.parts, "a message");
  return { ...message, role: "agent" } as unknown as Message;
}

function checkParts(parts: unknown, owner: string): void {
  if (!Array.isArray(parts) || parts.length === 0)
    throw new BadAgentEvent(`${owner} needs at least one part`);
  if (parts.length > LIMITS.partsMax)
    throw new BadAgentEvent(`${owner} has more than ${LIMITS.partsMax} parts`);
  for (const part of parts as unknown[]) checkPart(part);
}

function checkPart(part: unknown): void {
  const isValid =
    isRecord(part) &&
    ((part.kind === "text" && isText(part.text)) ||
      (part.kind === "bytes" && isText(part.bytes)) ||
      (part.kind === "url" && isText(part.url)) ||
      (part.kind === "data" && part.data !== undefined));
  if (!isValid) throw new BadAgentEvent(`${describe(part)} is not a part: it needs text, bytes, url or data`);
  checkOptional(part, "a part", { filename: isText, mediaType: isText, metadata: isRecord });
}

type Check = (value: unknown) => boolean;
const isText: Check = value => typeof value === "string";
const isFlag: Check = value => typeof value === "boolean";
const isTexts: Check = value => Array.isArray(value) && value.every(isText);

function checkOptional(value: Loose, owner: string, checks: Readonly<Record<string, Check>>): void {
  for (const [name, check] of Object.entries(checks))
    if (value[name] !== undefined && !check(value[name]))
      throw new BadAgentEvent(`the ${name} of ${owner} cannot be ${describe(value[name])}`);
}

function readUsage(usage: unknown): Record<string, number> {
  if (!isRecord(usage)) throw new BadAgentEvent("usage must be an object of counters, which are numbers");
  const counters = Object.entries(usage);
  if (counters.length > LIMITS.listEntriesMax)
    throw new BadAgentEvent(`usage has at most ${LIMITS.listEntriesMax} counters at once`);
  for (const [name, count] of counters) {
    if (!isCounter(name))
      throw new BadAgentEvent(
        `the name of a counter has 1 to ${LIMITS.idCharsMax} characters, without control characters`,
      );
    if (typeof count !== "number" || Math.abs(count) > Number.MAX_SAFE_INTEGER)
      throw new BadAgentEvent(`the counter ${name} must be a number up to ${Number.MAX_SAFE_INTEGER}`);
  }
  return usage as Record<string, number>;
}

/** Stored as part of a primary key. */
const isCounter = (name: string): boolean =>
  name !== "" && name.length <= LIMITS.idCharsMax && name.isWellFormed() && !/\p{Cc}/u.test(name);

function describe(value: unknown): string {
  if (value === null || typeof value !== "object") return String(value);
  return `an object with ${Object.keys(value).slice(0, 5).join(", ") || "nothing in it"}`;
}
