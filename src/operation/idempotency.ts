import { Fault, type IdempotencyKey, type Scope } from "../model/index.ts";
import type { Agent, NamedTask, Send } from "../ports/index.ts";
import type { CoreParts } from "./lookup.ts";

/** By what a call is known again when it is repeated; it is recorded with its message. */
export interface CallNames {
  readonly key?: IdempotencyKey;
  readonly once?: string;
}

/** D10: a caller may give a call a key; an agent may take the id of a message for one. */
export function namesOf(parts: CoreParts, agent: Agent, send: Send): CallNames | undefined {
  const { key: name, message, taskId, alias, contextId, metadata } = send;
  const isOnce = agent.policy.dedupe === "messageId" && message.messageId !== undefined;
  if (name === undefined && !isOnce) return undefined;
  const digest = parts.digest(JSON.stringify([message, taskId, alias, contextId, metadata]));
  return { ...(name !== undefined && { key: { name, digest } }), ...(isOnce && { once: digest }) };
}

/** Where the same call was recorded before; a name that was given to another call is a fault. */
export async function findRepeated(
  parts: CoreParts,
  letter: { readonly agent: Agent; readonly send: Send; readonly scope: Scope },
  { key, once }: CallNames,
): Promise<NamedTask | null> {
  const { agent, send, scope } = letter;
  const { tasks } = parts.store;
  const byKey = key && (await tasks.findByName(scope, agent.name, { kind: "key", name: key.name }));
  if (byKey)
    return same(byKey, key.digest, "Idempotency-Key", "This Idempotency-Key belongs to another call");
  const name = send.message.messageId;
  if (once === undefined || name === undefined) return null;
  const byMessage = await tasks.findByName(scope, agent.name, { kind: "message", name });
  return (
    byMessage && same(byMessage, once, "message.messageId", "Another message was sent with this messageId")
  );
}

function same(named: NamedTask, digest: string, field: string, problem: string): NamedTask {
  if (named.digest === digest) return named;
  throw new Fault("key-reused", `${problem}; use a new one`, { taskId: named.taskId, field });
}
