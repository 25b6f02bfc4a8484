/** Reads parameters of the admin API; a Fault names the one that is not valid. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import {
  type AgentName,
  type ContextId,
  Fault,
  LIMITS,
  TASK_STATES,
  type TaskId,
  type TaskState,
  taskNotFound,
  timeKey,
} from "../model/index.ts";
import type { EndpointRequest, EndpointResponse, OwnerFilter } from "../ports/index.ts";
import type { AdminCaller } from "./access.ts";

export const reply = (value: object, status = 200): EndpointResponse => ({
  status,
  headers: { "X-Content-Type-Options": "nosniff" },
  text: JSON.stringify(value),
});

export const invalid = (field: string, problem: string): Fault =>
  new Fault("invalid-params", `${field} ${problem}`, { field });

export function readInteger(query: URLSearchParams, name: string, fallback: number, max: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  if (!/^\d{1,15}$/.test(text)) throw invalid(name, "must be a whole number");
  return Math.min(Number(text), max);
}

export function readPageSize(query: URLSearchParams): number {
  const size = readInteger(query, "pageSize", LIMITS.pageSizeDefault, LIMITS.pageSizeMax);
  if (size === 0) throw invalid("pageSize", `must be from 1 to ${LIMITS.pageSizeMax}`);
  return size;
}

/** A page token is the id of a task. */
export function readTaskToken(query: URLSearchParams): TaskId | undefined {
  const token = query.get("pageToken");
  if (!token) return undefined;
  if (timeKey(token) === null) throw invalidToken();
  return token as TaskId;
}

export const invalidToken = (): Fault => invalid("pageToken", "must be a nextPageToken of an earlier page");

export function readChoice<T extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly T[],
): T | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const found = choices.find(choice => choice === text);
  if (found === undefined) throw invalid(name, `must be one of ${choices.join(", ")}`);
  return found;
}

export function readText(query: URLSearchParams, name: string, charsMax: number): string | undefined {
  const text = query.get(name)?.trim();
  if (!text) return undefined;
  if (text.length > charsMax) throw invalid(name, `must have at most ${charsMax} characters`);
  return text;
}

/** Milliseconds, or ISO 8601. */
function readTime(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  const at = /^\d{1,15}$/.test(text) ? Number(text) : text.length <= 40 ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw invalid(name, "must be a time in milliseconds or ISO 8601");
  return at;
}

function readList(query: URLSearchParams, name: string): readonly string[] {
  const values = query.getAll(name).filter(value => value !== "");
  if (values.length > LIMITS.listEntriesMax) throw invalid(name, "is given too often");
  return values;
}

export interface TaskFilter {
  readonly owners: OwnerFilter;
  readonly states: ReadonlySet<TaskState> | undefined;
  readonly contextId: ContextId | undefined;
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** In lower case. */
  readonly text: string | undefined;
  readonly crashed: boolean;
  readonly replies: boolean;
}

const TEXT_CHARS_MAX = 200;

export function readTaskFilter(query: URLSearchParams, caller: AdminCaller): TaskFilter {
  const states = readList(query, "state").map(state => {
    if (!TASK_STATES.includes(state as TaskState))
      throw invalid("state", `must be one of ${TASK_STATES.join(", ")}`);
    return state as TaskState;
  });
  return {
    owners: readOwners(query, caller),
    states: states.length > 0 ? new Set(states) : undefined,
    contextId: readText(query, "contextId", LIMITS.idCharsMax) as ContextId | undefined,
    from: readTime(query, "from"),
    to: readTime(query, "to"),
    text: readText(query, "text", TEXT_CHARS_MAX)?.toLowerCase(),
    crashed: query.get("crashed") === "true",
    replies: query.get("replies") === "true",
  };
}

/** The caller's tasks, or for an operator those of another caller; of these agents. */
export function readOwners(query: URLSearchParams, { owners, isOperator }: AdminCaller): OwnerFilter {
  const wanted = readList(query, "agent") as readonly AgentName[];
  const visible = owners.agents;
  const agents = wanted.length > 0 ? new Set(wanted.filter(name => visible?.has(name) ?? true)) : visible;
  const principal = isOperator ? readText(query, "caller", LIMITS.idCharsMax) : undefined;
  return { ...owners, ...(agents && { agents }), ...(principal !== undefined && { principal }) };
}

/** The body of a POST. */
export async function readBody(call: EndpointRequest): Promise<JsonObject> {
  if (!call.headers["content-type"]?.startsWith("application/json"))
    throw invalid("Content-Type", "must be application/json");
  const text = await call.body();
  try {
    const value = JSON.parse(text) as Json;
    if (isObject(value)) return value;
  } catch {
    // Thrown below.
  }
  throw new Fault("parse", "The body must be a JSON object");
}

export function readString(body: JsonObject, name: string): string {
  const value = body[name];
  if (typeof value !== "string" || value === "" || value.length > LIMITS.idCharsMax)
    throw invalid(name, `is required and must be a string of at most ${LIMITS.idCharsMax} characters`);
  return value;
}

/** The id in the path; an id that no server can have created is not found. */
export function readTaskId(call: EndpointRequest): TaskId {
  const id = call.vars.id ?? "";
  if (timeKey(id) === null) throw taskNotFound(id as TaskId);
  return id as TaskId;
}
