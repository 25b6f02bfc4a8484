import {
  BEGINNING,
  type ContextId,
  Fault,
  isSettled,
  isTerminal,
  LIMITS,
  type Message,
  type Scope,
  type Seq,
  type Task,
  type TaskEvent,
  type TaskId,
} from "../model/index.ts";
import { type Agent, type AppendExtras, type FoundTask, runTopic, type Send } from "../ports/index.ts";
import { type Said, withAnswers } from "./answers.ts";
import { withVerdict } from "./crash-answer.ts";
import { type Given, keepGiven, sortOut, toAuthorizedParts, unasked } from "./credentials.ts";
import { type CallNames, findRepeated, namesOf } from "./idempotency.ts";
import { type CoreParts, findTask, seekTask } from "./lookup.ts";
import { checkHops, checkRuns, checkSend } from "./preconditions.ts";
import { checkPush, requirePush, toConfig, toDelivery } from "./push-config.ts";
import { show } from "./show.ts";

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
  readonly names: CallNames | undefined;
  /** Its caller sees a task, whatever the agent says. */
  readonly shown: boolean;
  /** What came with it and is not recorded. */
  readonly given: Given | undefined;
}

/** Records a caller's message: in the task that it names, or in a new one. The same call twice is recorded once. */
export async function place(
  parts: CoreParts,
  agent: Agent,
  whole: Send,
  scope: Scope,
  shown: boolean,
): Promise<Placed> {
  if (!parts.isOpen())
    throw new Fault("unavailable", "The server is stopping and takes no new messages; try again soon");
  const { send, given } = sortOut(whole);
  checkHops(send, parts.hopsMax);
  checkSend(agent, send);
  if (send.push) {
    requirePush(agent, send.push.field);
    checkPush(parts, send.push.config, send.push.field);
  }
  const names = namesOf(parts, agent, send);
  const letter: Letter = { agent, send, scope, names, shown, given };
  for (let tries = 1; ; tries++) {
    try {
      const again = names && (await placeAgain(parts, letter, names));
      if (again) return again;
      // Most messages begin a task, and there is nothing to look for.
      return isNamed(send) || given ? await placeOnce(parts, letter) : await placeNew(parts, letter);
    } catch (error) {
      // Somebody else was quicker: look again, the answer may now be different.
      const again = error instanceof Fault && error.code === "conflict" && tries < LIMITS.conflictTriesMax;
      if (!again) throw error;
    }
  }
}

/** The same call came before: it stays where it is. */
async function placeAgain(parts: CoreParts, letter: Letter, names: CallNames): Promise<Placed | null> {
  const named = await findRepeated(parts, letter, names);
  if (!named) return null;
  const { taskId, seq } = named;
  if (letter.shown) await show(parts, letter.scope, taskId);
  return { taskId, seq, known: false, repeated: true };
}

async function placeOnce(parts: CoreParts, letter: Letter): Promise<Placed> {
  const found = isNamed(letter.send) && (await findNamed(parts, letter));
  if (found) return placeInTask(parts, letter, found);
  if (letter.given) throw unasked(letter.given);
  return placeNew(parts, letter);
}

/** The task that a message says it is for, or that it would begin if it were not there. */
function findNamed(parts: CoreParts, letter: Letter): Promise<FoundTask | null> {
  const { taskId, alias } = letter.send;
  if (taskId !== undefined) return findOpen(parts, letter, taskId);
  return seekTask(parts, letter.agent, letter.scope, alias as string);
}

const isNamed = ({ taskId, alias }: Send): boolean => taskId !== undefined || alias !== undefined;

/** The task that the message names; null: the dialect says that a stray message begins a new one. */
async function findOpen(parts: CoreParts, letter: Letter, taskId: TaskId): Promise<FoundTask | null> {
  const { agent, scope, send } = letter;
  if (send.stray !== "new") return findTask(parts, agent, scope, taskId);
  const found = await seekTask(parts, agent, scope, taskId);
  if (!found || !(takesAnswer(found.task) || takesIncoming(agent, found.task))) return null;
  return send.contextId === undefined || send.contextId === found.task.contextId ? found : null;
}

const takesAnswer = ({ status, cancel }: Task): boolean =>
  isSettled(status.state) && !isTerminal(status.state) && !cancel;

const takesIncoming = ({ policy }: Agent, { status, cancel }: Task): boolean =>
  policy.acceptsWhileWorking && !isSettled(status.state) && !cancel;

async function placeNew(parts: CoreParts, letter: Letter): Promise<Placed> {
  const { agent, send, scope } = letter;
  checkRuns(parts, scope);
  const id = parts.newId() as TaskId;
  const contextId = send.contextId ?? (parts.newId() as ContextId);
  const created: TaskEvent & { type: "created" } = {
    type: "created",
    id,
    contextId,
    agent: agent.name,
    origin: send.origin,
    ...(send.alias !== undefined && { alias: send.alias }),
    ...(send.metadata && { metadata: send.metadata }),
    shown: letter.shown,
    ...(agent.policy.turns === "parallel" && { alone: true }),
    ...(agent.replies === "message" && { quiet: true }),
  };
  const said = toSaid(parts, letter, created);
  const free = agent.policy.turns === "reject";
  const beside = send.push && { push: toDelivery(parts, toConfig(parts, send.push.config, id, [])) };
  await parts.store.log.append(scope, id, [created, said], { after: BEGINNING, free }, beside);
  return { taskId: id, seq: 2 as Seq, known: false };
}

async function placeInTask(parts: CoreParts, letter: Letter, found: FoundTask): Promise<Placed> {
  const { agent, send, scope } = letter;
  const { task, seq } = found;
  if (send.contextId !== undefined && send.contextId !== task.contextId)
    throw new Fault("invalid-params", "message.contextId is not the context of the task; leave it out", {
      field: "message.contextId",
    });
  if (isTerminal(task.status.state)) throw cannotTake(task, `has ended (${task.status.state})`);
  if (takesAnswer(task)) checkRuns(parts, scope);
  const said = toSaid(
    parts,
    letter.given ? await withGiven(parts, letter, task, letter.given) : letter,
    task,
  );
  if (takesIncoming(agent, task)) await handOver(parts, letter, task, said);
  else if (!takesAnswer(task)) throw cannotTake(task, "is still being worked on");
  else {
    const events = task.status.again ? withVerdict(said) : [withAnswers(task, said)];
    const free = agent.policy.turns === "reject" && events.at(-1)?.type === "message";
    await parts.store.log.append(
      scope,
      task.id,
      events,
      { after: seq, free },
      await toBeside(parts, letter, task),
    );
  }
  return { taskId: task.id, seq: (seq + 1) as Seq, known: true };
}

/** The same letter, with a word of what came with it in its place. */
async function withGiven(parts: CoreParts, letter: Letter, task: Task, given: Given): Promise<Letter> {
  const name = await keepGiven(parts, letter, task, given);
  const { message } = letter.send;
  const said = { ...message, parts: toAuthorizedParts(name, message.parts) };
  return { ...letter, send: { ...letter.send, message: said } };
}

/** Gives a message to the run that is under way, or to the one that will be. */
async function handOver(parts: CoreParts, letter: Letter, task: Task, said: Said): Promise<void> {
  if (task.incoming && task.incoming.length >= LIMITS.incomingMax)
    throw new Fault("unavailable", `The task takes no more than ${LIMITS.incomingMax} messages in one turn`, {
      taskId: task.id,
    });
  const incoming: TaskEvent = { ...said, type: "incoming" };
  const beside = await toBeside(parts, letter, task);
  await parts.store.log.append(letter.scope, task.id, [incoming], { state: task.status.state }, beside);
  parts.bus.notify(runTopic(task.id));
}

/** Where updates are to be delivered to from now on, if the caller said so with the message. */
async function toBeside(
  parts: CoreParts,
  { send, scope }: Letter,
  task: Task,
): Promise<AppendExtras | undefined> {
  if (!send.push) return undefined;
  const known = await parts.store.pushes.list(scope, task.id);
  return { push: toDelivery(parts, toConfig(parts, send.push.config, task.id, known)) };
}

function toSaid(parts: CoreParts, letter: Letter, task: Pick<Task, "id" | "contextId">): Said {
  const { names, send } = letter;
  const messageId = send.message.messageId ?? parts.newId();
  const message: Message = { ...send.message, messageId, taskId: task.id, contextId: task.contextId };
  const { thread, trace, hops, via } = send;
  const accepts = send.acceptedOutputModes?.length ? send.acceptedOutputModes : undefined;
  if (!names && thread === undefined && !accepts && !trace && !hops && !via)
    return { type: "message", message };
  const way = { ...(trace && { trace }), ...(hops && { hops }), ...(via && { via }) };
  const said = { ...(thread !== undefined && { thread }), ...(accepts && { accepts }), ...way };
  return { type: "message", message, ...names, ...said };
}

const cannotTake = (task: Task, why: string): Fault =>
  new Fault(
    "unsupported-operation",
    `The task ${why} and takes no message; leave out its id to begin another`,
    {
      taskId: task.id,
      facts: { state: task.status.state },
    },
  );
