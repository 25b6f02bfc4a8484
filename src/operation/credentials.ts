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
import type { Agent, SendRequest } from "../ports/index.ts";
import type { OperationParts } from "./lookup.ts";

/** Credentials in a message: they must not be recorded. */
export interface GivenCredentials {
  readonly credentials: JsonObject;
  readonly field: string;
}

/**
 * Removes a data part `{ credentials: … }` from a message to a task before anything else happens: it is for the agent
 * alone, and is not written to the log or the history.
 */
export function extractCredentials(send: SendRequest): {
  readonly send: SendRequest;
  readonly given: GivenCredentials | undefined;
} {
  const { taskId, alias, follows, contextAnswers } = send;
  const isAnswer = taskId !== undefined || alias !== undefined || follows !== undefined;
  if (!isAnswer && contextAnswers !== "newest") return { send, given: undefined };
  const { message } = send;
  const at = message.parts.findIndex(isCredentials);
  if (at === -1) return { send, given: undefined };
  const field = `message.parts[${at}].data.credentials`;
  const credentials = readCredentials((message.parts[at] as DataPart).data as JsonObject, field);
  const parts = message.parts.filter(part => !isCredentials(part));
  return { send: { ...send, message: { ...message, parts } }, given: { credentials, field } };
}

/** Without other members: an agent may have a member of this name in its own input. */
function isCredentials(part: Part): boolean {
  if (part.kind !== "data" || !isObject(part.data)) return false;
  const [member, ...others] = Object.keys(part.data);
  return member === "credentials" && others.length === 0;
}

/** A string is a token. */
function readCredentials({ credentials }: JsonObject, field: string): JsonObject {
  const given: Json | undefined = typeof credentials === "string" ? { token: credentials } : credentials;
  if (!isObject(given) || Object.keys(given).length === 0)
    throw new Fault("invalid-params", `${field} must be a string or a non-empty object`, { field });
  if (JSON.stringify(given).length <= LIMITS.credentialCharsMax) return given;
  throw new Fault("invalid-params", `${field} has more than ${LIMITS.credentialCharsMax} characters`, {
    field,
  });
}

/** Saves the credentials that the task waits for. Returns their name. */
export async function saveGivenCredentials(
  parts: OperationParts,
  { agent, scope }: { readonly agent: Agent; readonly scope: Scope },
  { status }: Task,
  given: GivenCredentials,
): Promise<string> {
  if (status.state !== "auth-required" || !status.auth) throw credentialsNotRequested(given);
  await parts.credentials.save({ scope, agent: agent.name }, status.auth, given.credentials);
  return status.auth.name;
}

export const credentialsNotRequested = ({ field }: GivenCredentials): Fault =>
  new Fault("invalid-params", `${field}: the task does not ask for credentials; they were discarded`, {
    field,
  });

/** Recorded instead of the credentials: that they were given, and their name. */
export function toAuthorizedParts(name: string, others: readonly Part[] = []): readonly Part[] {
  const fact: Part = { kind: "data", data: toAuthorized(name) };
  return others.length > 0 ? [...others, fact] : [{ kind: "text", text: `Authorized: ${name}` }, fact];
}

/** Whether a task still waits for the credentials that this message asks for. */
export async function isAuthorizationPending(
  parts: OperationParts,
  scope: Scope,
  taskId: TaskId,
  messageId: string,
): Promise<boolean> {
  const found = await parts.store.tasks.get(scope, taskId);
  return found !== null && pendingRequest(found.task, messageId) !== undefined;
}

function pendingRequest({ status, cancel }: Task, messageId: string): CredentialRequest | undefined {
  const isPending = status.state === "auth-required" && !cancel && status.message?.messageId === messageId;
  return isPending ? status.auth : undefined;
}

/** Continues a task whose credentials came by another way than a message. A Fault if it no longer waits for them. */
export async function resumeAuthorized(
  parts: OperationParts,
  scope: Scope,
  taskId: TaskId,
  messageId: string,
): Promise<void> {
  const found = await parts.store.tasks.get(scope, taskId);
  const request = found && pendingRequest(found.task, messageId);
  if (!request) throw taskNotFound(taskId);
  const message: Message = {
    messageId: parts.newId(),
    role: "user",
    parts: toAuthorizedParts(request.name),
    taskId,
    contextId: found.task.contextId,
  };
  await parts.store.log.append(scope, taskId, [{ type: "message", message }], { after: found.seq });
}
