import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import {
  type CredentialRequest,
  type DataPart,
  Fault,
  LIMITS,
  type Message,
  type Part,
  type Scope,
  type Task,
  type TaskId,
  taskNotFound,
  toAuthorized,
} from "../model/index.ts";
import type { Agent, Send } from "../ports/index.ts";
import type { CoreParts } from "./lookup.ts";

/** A message, and apart from it what must not be written down. */
export interface Sorted {
  readonly send: Send;
  readonly given: Given | undefined;
}
export interface Given {
  readonly credentials: JsonObject;
  readonly field: string;
}

/**
 * A data part `{ credentials: … }` in a message to a task is taken out of it before anything else happens: it is for the
 * agent alone, and neither the log nor a history gets it.
 */
export function sortOut(send: Send): Sorted {
  if (send.taskId === undefined && send.alias === undefined) return { send, given: undefined };
  const { message } = send;
  const at = message.parts.findIndex(isCredentials);
  if (at === -1) return { send, given: undefined };
  const field = `message.parts[${at}].data.credentials`;
  const credentials = readCredentials((message.parts[at] as DataPart).data as JsonObject, field);
  const parts = message.parts.filter(part => !isCredentials(part));
  return { send: { ...send, message: { ...message, parts } }, given: { credentials, field } };
}

/** Nothing else is in it: an agent may well have a member of this name in its own input. */
function isCredentials(part: Part): boolean {
  if (part.kind !== "data" || !isObject(part.data)) return false;
  const [member, ...others] = Object.keys(part.data);
  return member === "credentials" && others.length === 0;
}

/** A text is a token. */
function readCredentials({ credentials }: JsonObject, field: string): JsonObject {
  const given: Json | undefined = typeof credentials === "string" ? { token: credentials } : credentials;
  if (!isObject(given) || Object.keys(given).length === 0)
    throw new Fault("invalid-params", `${field} must be a text, or an object with something in it`, {
      field,
    });
  if (JSON.stringify(given).length <= LIMITS.credentialCharsMax) return given;
  throw new Fault("invalid-params", `${field} has more than ${LIMITS.credentialCharsMax} characters`, {
    field,
  });
}

/** Keeps what was given for the task that waits for it; what that is called. */
export async function keepGiven(
  parts: CoreParts,
  { agent, scope }: { readonly agent: Agent; readonly scope: Scope },
  { status }: Task,
  given: Given,
): Promise<string> {
  if (status.state !== "auth-required" || !status.auth) throw unasked(given);
  await parts.credentials.save({ scope, agent: agent.name }, status.auth, given.credentials);
  return status.auth.name;
}

export const unasked = ({ field }: Given): Fault =>
  new Fault("invalid-params", `${field}: the task does not ask for credentials; they were not kept`, {
    field,
  });

/** What is on record instead: that it was given, and under what name. */
export function toAuthorizedParts(name: string, others: readonly Part[] = []): readonly Part[] {
  const fact: Part = { kind: "data", data: toAuthorized(name) };
  return others.length > 0 ? [...others, fact] : [{ kind: "text", text: `Authorized: ${name}` }, fact];
}

/** Whether a task still waits for the answer to this message. */
export async function isAsking(
  parts: CoreParts,
  scope: Scope,
  taskId: TaskId,
  messageId: string,
): Promise<boolean> {
  const found = await parts.store.tasks.get(scope, taskId);
  return found !== null && askOf(found.task, messageId) !== undefined;
}

function askOf({ status, cancel }: Task, messageId: string): CredentialRequest | undefined {
  const isOpen = status.state === "auth-required" && !cancel && status.message?.messageId === messageId;
  return isOpen ? status.auth : undefined;
}

/** Credentials came another way than by a message: the task that waited for them goes on. A Fault if it no longer waits. */
export async function goOnAuthorized(
  parts: CoreParts,
  scope: Scope,
  taskId: TaskId,
  messageId: string,
): Promise<void> {
  const found = await parts.store.tasks.get(scope, taskId);
  const ask = found && askOf(found.task, messageId);
  if (!ask) throw taskNotFound(taskId);
  const { contextId } = found.task;
  const message: Message = {
    messageId: parts.newId(),
    role: "user",
    parts: toAuthorizedParts(ask.name),
    taskId,
    contextId,
  };
  await parts.store.log.append(scope, taskId, [{ type: "message", message }], { after: found.seq });
}
