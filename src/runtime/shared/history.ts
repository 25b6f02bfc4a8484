/**
 * The messages that a model gets from earlier turns, in the format of its API, in the storage of the context. One entry
 * per task, with one list of messages per turn. A turn is saved when it has ended; failed and canceled turns are not.
 */
import type { AgentTask, Ctx } from "../../agent/context.ts";
import { isObject, type Json } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";
import { deleteKeys, readItems } from "./storage-pages.ts";

/** The default number of messages from earlier tasks of the context. */
export const HISTORY_DEFAULT = 100;
export const HISTORY_MAX = 10_000;

export interface History {
  /** Messages of earlier tasks of the context, oldest first: as many of the newest whole tasks as fit. */
  readonly earlier: readonly Json[];
  /** Messages of this task by turn, including this turn if it was saved already. */
  readonly turns: readonly (readonly Json[])[];
}

interface StoredTurns {
  readonly turns: readonly (readonly Json[])[];
  /** The last turn has asked something: other tasks do not get an unanswered question. */
  readonly open?: boolean;
}

const PREFIX = "task/";
const PAGE = 10;
/** An open entry is deleted after this many newer tasks: its question will not be answered any more. */
const ENTRIES_MAX = 200;
const keyOf = (task: AgentTask): string => PREFIX + task.id;

/** Also deletes entries that no longer fit, a few at a time. */
export async function readHistory(task: AgentTask, ctx: Ctx, messagesMax: number): Promise<History> {
  const own = await ctx.storage.get(keyOf(task));
  const earlier: Json[] = [];
  const outdated: string[] = [];
  let messagesLeft = messagesMax;
  let bytesLeft: number = LIMITS.historyBytesMax;
  let entries = 0;
  // Newest first: task ids ascend.
  const range = { prefix: PREFIX, beyond: keyOf(task), backwards: true };
  for await (const { key, value } of readItems(ctx.storage, range, PAGE)) {
    const { turns, open } = value as unknown as StoredTurns;
    entries += 1;
    if (open && entries < ENTRIES_MAX) continue;
    const messages = turns.flat();
    messagesLeft -= messages.length;
    bytesLeft -= JSON.stringify(messages).length;
    if (open || messagesLeft < 0 || bytesLeft < 0) outdated.push(key);
    else earlier.unshift(...messages);
    // Each task adds one entry, so that a page of deletions per task keeps up.
    if (outdated.length === PAGE) break;
  }
  if (outdated.length > 0) await deleteKeys(ctx.storage, outdated);
  return { earlier, turns: own === undefined ? [] : (own as unknown as StoredTurns).turns };
}

/** Saves the messages of this turn; idempotent. `open`: the turn asks something. */
export async function saveTurn(
  task: AgentTask,
  { storage, log }: Ctx,
  history: History,
  messages: readonly Json[],
  open: boolean,
): Promise<void> {
  const turns: (readonly Json[])[] = [...history.turns];
  // Turns that failed have no messages.
  while (turns.length < task.turn - 1) turns.push([]);
  turns[task.turn - 1] = messages;
  const entry = open ? { turns, open } : limitSize({ turns });
  if (entry) await storage.put([{ key: keyOf(task), value: entry as unknown as Json }]);
  else log.warn({ taskId: task.id }, "the messages of a task are too large for the history of its context");
}

/** Removes files if the entry is too large; undefined: it is too large even so. */
function limitSize(entry: StoredTurns): StoredTurns | undefined {
  const isSmall = (one: StoredTurns): boolean => JSON.stringify(one).length <= LIMITS.historyTaskBytesMax;
  if (isSmall(entry)) return entry;
  const light = { turns: entry.turns.map(messages => messages.map(withoutFiles)) };
  return isSmall(light) ? light : undefined;
}

const FILE_TYPES: ReadonlySet<unknown> = new Set(["file", "image_url", "reasoning-file"]);
const REMOVED_FILE: Json = { type: "text", text: "(a file was here)" };

function withoutFiles(message: Json): Json {
  if (!isObject(message) || !Array.isArray(message.content)) return message;
  const content = message.content.map((part: Json) =>
    isObject(part) && FILE_TYPES.has(part.type) ? REMOVED_FILE : part,
  );
  return { ...message, content };
}
