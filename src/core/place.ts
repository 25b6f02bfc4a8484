import {
  BEGINNING,
  type ContextId,
  Fault,
  isSettled,
  isTerminal,
  type Key,
  LIMITS,
  type Message,
  type Scope,
  type Seq,
  type Task,
  type TaskEvent,
  type TaskId,
} from "../model/index.ts";
import type { Agent, Send } from "../ports.ts";
import { checkSend } from "./admit.ts";
import { type CoreParts, type Found, findTask } from "./deps.ts";

/** Where a message was recorded. */
export interface Placed {
  readonly taskId: TaskId;
  readonly seq: Seq;
  /** It went to a task that the caller already knew. */
  readonly known: boolean;
  /** The same call was recorded before: this is where. */
  readonly repeated?: true;
}

/** What a message is recorded with. */
interface Letter {
  readonly agent: Agent;
  readonly send: Send;
  readonly scope: Scope;
  readonly key: Key | undefined;
  /** Its caller sees a task, whatever the agent says. */
  readonly shown: boolean;
}

/** Records a caller's message: in the task that it names, or in a new one. The same call twice is recorded once. */
export async function place(
  parts: CoreParts,
  agent: Agent,
  send: Send,
  scope: Scope,
  shown: boolean,
): Promise<Placed> {
  if (!parts.isOpen())
    throw new Fault("unavailable", "The server is stopping and takes no new messages; try again soon");
  checkSend(agent, send);
  const letter: Letter = { agent, send, scope, key: keyOf(parts, send), shown };
  for (let tries = 1; ; tries++) {
    try {
      return (await findRepeated(parts, letter)) ?? (await placeOnce(parts, letter));
    } catch (error) {
      // Somebody else was quicker: look again, the answer may now be different.
      const again = error instanceof Fault && error.code === "conflict" && tries < LIMITS.conflictTriesMax;
      if (!again) throw error;
    }
  }
}

function keyOf(parts: CoreParts, send: Send): Key | undefined {
  if (send.key === undefined) return undefined;
  const { key: name, message, taskId, alias, contextId, metadata } = send;
  return { name, digest: parts.digest(JSON.stringify([message, taskId, alias, contextId, metadata])) };
}

async function findRepeated(parts: CoreParts, letter: Letter): Promise<Placed | null> {
  const { scope, agent, key } = letter;
  if (!key) return null;
  const named = await parts.store.tasks.named(scope, agent.name, { kind: "key", name: key.name });
  if (!named) return null;
  if (named.digest !== key.digest)
    throw new Fault("key-reused", "This Idempotency-Key belongs to another call; use a new one", {
      taskId: named.taskId,
      field: "Idempotency-Key",
    });
  return { taskId: named.taskId, seq: named.seq, known: false, repeated: true };
}

async function placeOnce(parts: CoreParts, letter: Letter): Promise<Placed> {
  const { send } = letter;
  if (send.taskId !== undefined) {
    const found = await findOpen(parts, letter, send.taskId);
    if (found) return placeInTask(parts, letter, found);
  } else if (send.alias !== undefined) {
    const found = await findNamed(parts, letter, send.alias);
    if (found) return placeInTask(parts, letter, found);
  }
  return placeNew(parts, letter);
}

/** The task that the message names; null: the dialect says that a stray message begins a new one. */
async function findOpen(parts: CoreParts, letter: Letter, taskId: TaskId): Promise<Found | null> {
  const { agent, scope, send } = letter;
  if (send.stray !== "new") return findTask(parts, agent, scope, taskId);
  const found = await findNamed(parts, letter, taskId);
  if (!found || !takesAnswer(found.task)) return null;
  return send.contextId === undefined || send.contextId === found.task.contextId ? found : null;
}

async function findNamed(parts: CoreParts, letter: Letter, name: string): Promise<Found | null> {
  try {
    return await findTask(parts, letter.agent, letter.scope, name as TaskId);
  } catch (error) {
    if (error instanceof Fault && error.code === "task-not-found") return null;
    throw error;
  }
}

const takesAnswer = ({ status, cancel }: Task): boolean =>
  isSettled(status.state) && !isTerminal(status.state) && !cancel;

async function placeNew(parts: CoreParts, letter: Letter): Promise<Placed> {
  const { agent, send, scope } = letter;
  const id = parts.newId() as TaskId;
  const contextId = send.contextId ?? (parts.newId() as ContextId);
  const created: TaskEvent = {
    type: "created",
    id,
    contextId,
    agent: agent.name,
    origin: send.origin,
    ...(send.alias !== undefined && { alias: send.alias }),
    ...(send.metadata && { metadata: send.metadata }),
    shown: letter.shown,
    ...(agent.replies === "message" && { quiet: true }),
  };
  const said = toSaid(letter, { ...send.message, taskId: id, contextId });
  await parts.store.log.append(scope, id, [created, said], { after: BEGINNING });
  return { taskId: id, seq: 2 as Seq, known: false };
}

async function placeInTask(parts: CoreParts, letter: Letter, found: Found): Promise<Placed> {
  const { send, scope } = letter;
  const { task, seq } = found;
  if (send.contextId !== undefined && send.contextId !== task.contextId)
    throw new Fault("invalid-params", "message.contextId is not the context of the task; leave it out", {
      field: "message.contextId",
    });
  if (isTerminal(task.status.state)) throw cannotTake(task, `has ended (${task.status.state})`);
  if (!takesAnswer(task)) throw cannotTake(task, "is still being worked on");
  const said = toSaid(letter, { ...send.message, taskId: task.id, contextId: task.contextId });
  await parts.store.log.append(scope, task.id, [said], { after: seq });
  return { taskId: task.id, seq: (seq + 1) as Seq, known: true };
}

function toSaid({ key, send }: Letter, message: Message): TaskEvent {
  if (!key && send.thread === undefined) return { type: "message", message };
  const thread = send.thread !== undefined && { thread: send.thread };
  return { type: "message", message, ...(key && { key }), ...thread };
}

const cannotTake = (task: Task, why: string): Fault =>
  new Fault("unsupported-operation", `The task ${why} and takes no message; send one without a taskId`, {
    taskId: task.id,
    facts: { state: task.status.state },
  });
