import {
  type AgentCard,
  BEGINNING,
  type ContextId,
  Fault,
  isTerminal,
  LIMITS,
  type Message,
  mediaTypeOf,
  type Scope,
  type Seq,
  type TaskEvent,
  type TaskId,
} from "../model/index.ts";
import type { Agent, Send } from "../ports.ts";
import { type CoreParts, findTask } from "./deps.ts";

/** Where a message was recorded. */
export interface Placed {
  readonly taskId: TaskId;
  readonly seq: Seq;
  /** It went to a task that the caller already knew. */
  readonly known: boolean;
}

/** Records a caller's message: in the task that it names, or in a new one. */
export function place(
  parts: CoreParts,
  agent: Agent,
  send: Send,
  scope: Scope,
  shown: boolean,
): Promise<Placed> {
  if (!parts.isOpen())
    throw new Fault("unavailable", "The server is stopping and takes no new messages; try again soon");
  checkPush(agent, send);
  checkExtensions(agent, send);
  checkContent(agent, send.message);
  return send.taskId === undefined
    ? placeNew(parts, agent, send, scope, shown)
    : placeInTask(parts, agent, send, send.taskId, scope);
}

async function placeNew(
  parts: CoreParts,
  agent: Agent,
  send: Send,
  scope: Scope,
  shown: boolean,
): Promise<Placed> {
  const id = parts.newId() as TaskId;
  const contextId = send.contextId ?? (parts.newId() as ContextId);
  const created: TaskEvent = {
    type: "created",
    id,
    contextId,
    agent: agent.name,
    origin: send.origin,
    ...(send.metadata && { metadata: send.metadata }),
    shown,
    ...(agent.replies === "message" && { quiet: true }),
  };
  const said: TaskEvent = { type: "message", message: { ...send.message, taskId: id, contextId } };
  await parts.store.log.append(scope, id, [created, said], { after: BEGINNING });
  return { taskId: id, seq: 2 as Seq, known: false };
}

async function placeInTask(
  parts: CoreParts,
  agent: Agent,
  send: Send,
  taskId: TaskId,
  scope: Scope,
): Promise<Placed> {
  for (let tries = 1; ; tries++) {
    const { task, seq } = await findTask(parts, agent, scope, taskId);
    if (send.contextId !== undefined && send.contextId !== task.contextId)
      throw new Fault("invalid-params", "message.contextId is not the context of the task; leave it out", {
        field: "message.contextId",
      });
    if (isTerminal(task.status.state)) throw cannotTake(taskId, `has ended (${task.status.state})`);
    if (task.status.state === "submitted" || task.status.state === "working" || task.cancel)
      throw cannotTake(taskId, "is still being worked on");
    const message: Message = { ...send.message, taskId, contextId: task.contextId };
    try {
      await parts.store.log.append(scope, taskId, [{ type: "message", message }], { after: seq });
      return { taskId, seq: (seq + 1) as Seq, known: true };
    } catch (error) {
      // Somebody else was quicker: look again, the answer may now be different.
      const again = error instanceof Fault && error.code === "conflict" && tries < LIMITS.conflictTriesMax;
      if (!again) throw error;
    }
  }
}

const cannotTake = (taskId: TaskId, why: string): Fault =>
  new Fault("unsupported-operation", `The task ${why} and takes no message; send one without a taskId`, {
    taskId,
  });

function checkPush(agent: Agent, send: Send): void {
  if (send.push !== undefined)
    throw new Fault("push-not-supported", `The agent "${agent.name}" sends no push notifications`, {
      field: send.push,
    });
}

/** v1 §3.3.4: an extension that the card calls required must be named by the caller. */
function checkExtensions(agent: Agent, send: Send): void {
  for (const { uri, required } of agent.card.extensions)
    if (required && !send.extensions.includes(uri))
      throw new Fault(
        "extension-required",
        `This agent is only for callers that ask for its extension ${uri}`,
        {
          facts: { extension: uri },
        },
      );
}

function checkContent(agent: Agent, message: Message): void {
  message.parts.forEach((part, i) => {
    const type = mediaTypeOf(part);
    if (takes(agent.card, type)) return;
    const modes = [agent.card, ...agent.card.skills].flatMap(one => one.inputModes ?? []);
    const known = [...new Set(modes)].join(", ");
    throw new Fault("content-type-not-supported", `This agent takes ${known}; this part is ${type}`, {
      field: `message.parts[${i}]`,
    });
  });
}

/** v1 §4.4.5: a skill may take more than the agent as a whole. */
function takes(card: AgentCard, type: string): boolean {
  const isCovered = (mode: string): boolean => covers(mode, type);
  return card.inputModes.some(isCovered) || card.skills.some(skill => skill.inputModes?.some(isCovered));
}

/** `text/*` and `*` + `/*` cover what they say; parameters such as a charset do not count. */
function covers(mode: string, type: string): boolean {
  if (mode === type || mode === "*/*" || mode === "*") return true;
  const bare = (type.split(";")[0] as string).trim().toLowerCase();
  const wanted = mode.toLowerCase();
  return wanted.endsWith("/*") ? bare.startsWith(wanted.slice(0, -1)) : wanted === bare;
}
