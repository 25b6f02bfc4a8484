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
  taskNotFound,
} from "../model/index.ts";
import { type Agent, type AppendExtras, type FoundTask, runTopic, type SendRequest } from "../ports/index.ts";
import { checkAnswer, type MessageEvent, toAnswerEvent } from "./answers.ts";
import { findAnswered, findTaskContext } from "./context.ts";
import { toCrashAnswerEvents } from "./crash-answer.ts";
import {
  credentialsNotRequested,
  extractCredentials,
  type GivenCredentials,
  saveGivenCredentials,
  toAuthorizedParts,
} from "./credentials.ts";
import { type CallNames, findRepeated, toCallNames } from "./idempotency.ts";
import { findTask, findTaskOrNull, type OperationParts } from "./lookup.ts";
import { checkHops, checkRunCapacity, checkSend } from "./preconditions.ts";
import { checkPush, requirePush, toConfig, toSubscription } from "./push-config.ts";
import { checkTypedInput } from "./typed-input.ts";

/** The event of a recorded message. */
export interface RecordedMessage {
  readonly taskId: TaskId;
  readonly seq: Seq;
  /** The message went to an existing task. */
  readonly known: boolean;
  /** The same call was recorded before. */
  readonly repeated?: true;
}

/** A message to be recorded. */
interface MessageDraft {
  readonly agent: Agent;
  readonly send: SendRequest;
  readonly scope: Scope;
  readonly names: CallNames | undefined;
  /** The caller gets a task even if the agent replies with a message. */
  readonly shown: boolean;
  /** Not recorded. */
  readonly given: GivenCredentials | undefined;
}

/** Records a caller's message in the task that it names, or in a new one. A repeated call is recorded once. */
export async function recordMessage(
  parts: OperationParts,
  agent: Agent,
  request: SendRequest,
  scope: Scope,
  shown: boolean,
): Promise<RecordedMessage> {
  if (!parts.isOpen()) throw new Fault("unavailable", "The server is shutting down; retry later");
  const { send, given } = extractCredentials(request);
  checkHops(send, parts.hopsMax);
  checkSend(agent, send);
  if (send.push) {
    requirePush(agent, send.push.field);
    checkPush(parts, send.push.config, send.push.field, send.push.names);
  }
  const names = toCallNames(parts, agent, send);
  const draft: MessageDraft = { agent, send, scope, names, shown, given };
  for (let tries = 1; ; tries++) {
    try {
      const recorded = names && (await findRecorded(parts, draft, names));
      if (recorded) return recorded;
      if (isAddressed(send)) return await recordAddressed(parts, draft);
      const found = send.contextId === undefined ? null : await findWaiting(parts, draft, send.contextId);
      if (send.answer) checkAnswer(send.answer, found?.task);
      if (found) return await recordInTask(parts, draft, found);
      if (given) throw credentialsNotRequested(given);
      return await recordInNewTask(parts, draft, send.contextId);
    } catch (error) {
      const isConflict = error instanceof Fault && error.code === "conflict";
      if (!isConflict || tries >= LIMITS.conflictTriesMax) throw error;
    }
  }
}

/** The event of the same call, if it was recorded before. */
async function findRecorded(
  parts: OperationParts,
  draft: MessageDraft,
  names: CallNames,
): Promise<RecordedMessage | null> {
  const named = await findRepeated(parts, draft, names);
  if (!named) return null;
  const { taskId, seq } = named;
  if (draft.shown) await recordShown(parts, draft.scope, taskId);
  return { taskId, seq, known: false, repeated: true };
}

const isAddressed = ({ taskId, alias, follows }: SendRequest): boolean =>
  taskId !== undefined || alias !== undefined || follows !== undefined;

/** Records a message that names a task; where it may, it begins a new one instead. */
async function recordAddressed(parts: OperationParts, draft: MessageDraft): Promise<RecordedMessage> {
  const { send, given, names } = draft;
  const found = await findAddressed(parts, draft);
  // The same call may have been recorded since it was looked for: then the task that it created is found here.
  const repeated = found && names && send.alias !== undefined && (await findRecorded(parts, draft, names));
  if (repeated) return repeated;
  const isFollowed = found !== null && send.follows !== undefined && !acceptsAnswer(found.task);
  if (send.answer) checkAnswer(send.answer, found?.task);
  if (found && !isFollowed) return recordInTask(parts, draft, found);
  if (given) throw credentialsNotRequested(given);
  return recordInNewTask(parts, draft, isFollowed ? found.task.contextId : send.contextId);
}

/** The task that the message names by id or alias; null: the message begins a new one. */
async function findAddressed(parts: OperationParts, draft: MessageDraft): Promise<FoundTask | null> {
  const { agent, scope, send } = draft;
  const { taskId, follows } = send;
  if (follows) return findFollowed(parts, draft, follows);
  if (taskId === undefined) return findTaskOrNull(parts, agent, scope, send.alias as string);
  if (send.stray !== "new") return findTask(parts, agent, scope, taskId);
  const found = await findTaskOrNull(parts, agent, scope, taskId);
  if (!found || !(acceptsAnswer(found.task) || acceptsIncoming(agent, found.task))) return null;
  return send.contextId === undefined || send.contextId === found.task.contextId ? found : null;
}

/** The task of a turn that the caller names: a conversation goes on from its newest turn, and has no branches. */
async function findFollowed(
  parts: OperationParts,
  { agent, scope }: MessageDraft,
  { taskId, turn, field }: NonNullable<SendRequest["follows"]>,
): Promise<FoundTask> {
  const found = await findTask(parts, agent, scope, taskId);
  const newest = found.task.turn;
  if (turn === undefined || turn === newest) return found;
  if (turn > newest || turn < 1) throw taskNotFound(taskId);
  throw new Fault(
    "invalid-params",
    `${field} names turn ${turn}, and the task has gone on: continue from its newest turn, ${newest}`,
    { field, taskId },
  );
}

/** The task of the message's context that waits for its caller; null: the message begins a new one. */
async function findWaiting(
  parts: OperationParts,
  draft: MessageDraft,
  contextId: ContextId,
): Promise<FoundTask | null> {
  const taskId = await findAnswered(parts, draft, contextId);
  const found = taskId === undefined ? null : await findTaskOrNull(parts, draft.agent, draft.scope, taskId);
  return found && acceptsAnswer(found.task) ? found : null;
}

const acceptsAnswer = ({ status, cancel }: Task): boolean =>
  isSettled(status.state) && !isTerminal(status.state) && !cancel;

const acceptsIncoming = ({ policy }: Agent, { status, cancel }: Task): boolean =>
  policy.acceptsWhileWorking && !isSettled(status.state) && !cancel;

async function recordInNewTask(
  parts: OperationParts,
  draft: MessageDraft,
  context: ContextId | undefined,
): Promise<RecordedMessage> {
  const { agent, send, scope } = draft;
  if (agent.checkInput) await checkTypedInput(agent, send, agent.checkInput);
  checkRunCapacity(parts, scope);
  const id = parts.newId() as TaskId;
  const { contextId, thread, isNew } = await findTaskContext(parts, draft, context);
  const created: TaskEvent & { type: "created" } = {
    type: "created",
    id,
    contextId,
    agent: agent.name,
    origin: send.origin,
    ...(send.alias !== undefined && { alias: send.alias }),
    ...(send.metadata && { metadata: send.metadata }),
    shown: draft.shown,
    ...(agent.policy.turns === "parallel" && { alone: true }),
    ...(agent.replies === "message" && { quiet: true }),
  };
  const earlier = send.earlier?.length && (isNew || send.contextId === undefined) ? send.earlier : undefined;
  const message = toMessageEvent(parts, draft, { id, contextId, thread });
  const event = earlier ? { ...message, earlier } : message;
  const free = agent.policy.turns === "reject" || send.free === true;
  const extras = send.push && { push: toSubscription(parts, toConfig(parts, send.push.config, id, [])) };
  // A thread that names the context was chosen by the caller: another message may have named it, too.
  const opensContext = context === undefined && contextId !== thread;
  const condition = { after: BEGINNING, free, opensContext };
  await parts.store.log.append(scope, id, [created, event], condition, extras);
  return { taskId: id, seq: 2 as Seq, known: false };
}

async function recordInTask(
  parts: OperationParts,
  draft: MessageDraft,
  { task, seq }: FoundTask,
): Promise<RecordedMessage> {
  const { agent, send, scope, given } = draft;
  if (send.contextId !== undefined && send.contextId !== task.contextId)
    throw new Fault("invalid-params", "message.contextId does not match the task; omit it", {
      field: "message.contextId",
    });
  checkGeneration(send, task);
  if (isTerminal(task.status.state)) throw notAccepted(task, `has ended (${task.status.state})`);
  if (acceptsAnswer(task)) checkRunCapacity(parts, scope);
  const event = toMessageEvent(parts, given ? await withSaved(parts, draft, task, given) : draft, task);
  if (acceptsIncoming(agent, task)) await recordIncoming(parts, draft, { task, seq }, event);
  else if (!acceptsAnswer(task)) throw notAccepted(task, "is still being worked on");
  else {
    const events = toAnswerEvents(task, event);
    const isFree = agent.policy.turns === "reject" || send.free === true;
    const free = isFree && events.at(-1)?.type === "message";
    const extras = await toExtras(parts, draft, task);
    await parts.store.log.append(scope, task.id, events, { after: seq, free }, extras);
  }
  return { taskId: task.id, seq: (seq + 1) as Seq, known: true };
}

function toAnswerEvents(task: Task, event: MessageEvent): readonly TaskEvent[] {
  if (task.status.again) return toCrashAnswerEvents(event);
  return [event.request ? event : toAnswerEvent(task, event)];
}

/** The append of the message expects the position of this task, so that no other update comes in between. */
function checkGeneration({ ifGeneration }: SendRequest, { id, generation = 0 }: Task): void {
  if (ifGeneration === undefined || ifGeneration === generation) return;
  throw new Fault(
    "task-generation-mismatch",
    `The task has generation ${generation}, not ${ifGeneration}; get it and decide again`,
    {
      taskId: id,
      facts: { expectedGeneration: String(ifGeneration), currentGeneration: String(generation) },
    },
  );
}

const notAccepted = (task: Task, reason: string): Fault =>
  new Fault(
    "unsupported-operation",
    `The task ${reason} and accepts no message; omit its id to start a new task`,
    { taskId: task.id, facts: { state: task.status.state } },
  );

/** Saves the credentials, and records their name in their place. */
async function withSaved(
  parts: OperationParts,
  draft: MessageDraft,
  task: Task,
  given: GivenCredentials,
): Promise<MessageDraft> {
  const name = await saveGivenCredentials(parts, draft, task, given);
  const { message } = draft.send;
  const redacted = { ...message, parts: toAuthorizedParts(name, message.parts) };
  return { ...draft, send: { ...draft.send, message: redacted } };
}

/** Records a message for the current run, or for the next one. */
async function recordIncoming(
  parts: OperationParts,
  draft: MessageDraft,
  { task, seq }: Pick<FoundTask, "task" | "seq">,
  event: MessageEvent,
): Promise<void> {
  if (task.incoming && task.incoming.length >= LIMITS.incomingMax)
    throw new Fault("unavailable", `The task accepts at most ${LIMITS.incomingMax} messages per turn`, {
      taskId: task.id,
    });
  const incoming: TaskEvent = { ...event, type: "incoming" };
  const extras = await toExtras(parts, draft, task);
  const { scope, send } = draft;
  const expected = send.ifGeneration === undefined ? { state: task.status.state } : { after: seq };
  await parts.store.log.append(scope, task.id, [incoming], expected, extras);
  parts.bus.notify(runTopic(task.id));
}

async function toExtras(
  parts: OperationParts,
  { send, scope }: MessageDraft,
  task: Task,
): Promise<AppendExtras | undefined> {
  if (!send.push) return undefined;
  const known = await parts.store.pushes.list(scope, task.id);
  return { push: toSubscription(parts, toConfig(parts, send.push.config, task.id, known)) };
}

function toMessageEvent(
  parts: OperationParts,
  { names, send }: MessageDraft,
  task: Pick<Task, "id" | "contextId"> & { readonly thread?: string | undefined },
): MessageEvent {
  const messageId = send.message.messageId ?? parts.newId();
  const message: Message = { ...send.message, messageId, taskId: task.id, contextId: task.contextId };
  const { thread } = task;
  const { trace, hops, via, request } = send;
  const accepts = send.acceptedOutputModes?.length ? send.acceptedOutputModes : undefined;
  if (!names && thread === undefined && !accepts && !trace && !hops && !via && !request)
    return { type: "message", message };
  return {
    type: "message",
    message,
    ...names,
    ...(thread !== undefined && { thread }),
    ...(accepts && { accepts }),
    ...(trace && { trace }),
    ...(hops && { hops }),
    ...(via && { via }),
    ...(request && { request }),
  };
}

/** Records that the caller gets a task. Nothing to do if the agent has emitted an event meanwhile. */
export async function recordShown(parts: OperationParts, scope: Scope, taskId: TaskId): Promise<void> {
  for (let tries = 0; tries < LIMITS.conflictTriesMax; tries++) {
    const found = await parts.store.tasks.get(scope, taskId);
    if (!found || found.task.shown || found.task.reply) return;
    try {
      return await parts.store.log.append(scope, taskId, [{ type: "shown" }], {
        state: found.task.status.state,
      });
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "conflict") throw error;
    }
  }
}
