import { Fault, type IdempotencyKey, type Scope } from "../model/index.ts";
import type { Agent, NamedTask, SendRequest } from "../ports/index.ts";
import type { OperationParts } from "./lookup.ts";

/** The names by which a repeated call is recognized; recorded with its message. */
export interface CallNames {
  readonly key?: IdempotencyKey;
  readonly once?: string;
}

/** D10: a call may have an Idempotency-Key; an agent may use the id of a message as one. */
export function toCallNames(parts: OperationParts, agent: Agent, send: SendRequest): CallNames | undefined {
  const { key: name, message, taskId, alias, contextId, metadata, earlier } = send;
  const isNamed = agent.policy.dedupe === "messageId" || send.request !== undefined;
  const isOnce = isNamed && message.messageId !== undefined;
  if (name === undefined && !isOnce) return undefined;
  const content = [message, taskId, alias, contextId, metadata];
  const isFollowing = send.contextAnswers === "newest" && contextId !== undefined;
  // Stored digests have this form.
  const follows = send.follows ? { taskId: send.follows.taskId } : isFollowing ? "context" : undefined;
  const digest = parts.digest(JSON.stringify(follows || earlier ? [...content, follows, earlier] : content));
  return { ...(name !== undefined && { key: { name, digest } }), ...(isOnce && { once: digest }) };
}

/** Where the same call was recorded before; a Fault if its name was used for another call. */
export async function findRepeated(
  parts: OperationParts,
  draft: { readonly agent: Agent; readonly send: SendRequest; readonly scope: Scope },
  { key, once }: CallNames,
): Promise<NamedTask | null> {
  const { agent, send, scope } = draft;
  const { tasks } = parts.store;
  const byKey = key && (await tasks.findByName(scope, agent.name, { kind: "key", name: key.name }));
  if (byKey)
    return requireSame(byKey, key.digest, "Idempotency-Key", "The Idempotency-Key was used for another call");
  const name = send.message.messageId;
  if (once === undefined || name === undefined) return null;
  const byMessage = await tasks.findByName(scope, agent.name, { kind: "message", name });
  return (
    byMessage &&
    requireSame(byMessage, once, "message.messageId", "The messageId was used for another message")
  );
}

function requireSame(named: NamedTask, digest: string, field: string, problem: string): NamedTask {
  if (named.digest === digest) return named;
  throw new Fault("key-reused", `${problem}; use a new one`, { taskId: named.taskId, field });
}
