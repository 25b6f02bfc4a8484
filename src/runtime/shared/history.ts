/**
 * What a model is told of the turns before: its messages, in its own words, on the shelf of the context. One entry per
 * task, with one list of messages per turn. A turn is kept when it has come to an end; one that failed or was canceled
 * leaves nothing.
 */
import type { AgentTask, Ctx } from "../../agent/definition.ts";
import { isObject, type Json } from "../../lib/json.ts";
import { LIMITS } from "../../model/index.ts";

/** Messages of earlier tasks of the context, if the author does not say. */
export const HISTORY_DEFAULT = 100;
export const HISTORY_MAX = 10_000;

export interface Past {
  /** Of earlier tasks of the context, oldest first: the newest whole tasks, as many as there is room for. */
  readonly earlier: readonly Json[];
  /** Of the turns of this task, this one included if it was kept already. */
  readonly turns: readonly (readonly Json[])[];
}

interface Entry {
  readonly turns: readonly (readonly Json[])[];
  /** Its last turn asked something that is not answered: others cannot make sense of it yet. */
  readonly open?: boolean;
}

const PREFIX = "task/";
const PAGE = 10;
/** A question that was not answered while so many tasks came after it will not be answered any more. */
const ENTRIES_MAX = 200;
const keyOf = (task: AgentTask): string => PREFIX + task.id;

export async function readPast(task: AgentTask, ctx: Ctx, messagesMax: number): Promise<Past> {
  const own = await ctx.shelf.get(keyOf(task));
  const earlier: Json[] = [];
  const outdated: string[] = [];
  let room = messagesMax;
  let bytes: number = LIMITS.historyBytesMax;
  let entries = 0;
  for await (const { key, value } of entriesBefore(task, ctx)) {
    const { turns, open } = value as unknown as Entry;
    entries += 1;
    if (open && entries < ENTRIES_MAX) continue;
    const messages = turns.flat();
    room -= messages.length;
    bytes -= JSON.stringify(messages).length;
    if (open || room < 0 || bytes < 0) outdated.push(key);
    else earlier.unshift(...messages);
    // A few at a time: each task adds one.
    if (outdated.length === PAGE) break;
  }
  if (outdated.length > 0) await ctx.shelf.put(outdated.map(key => ({ key, value: undefined })));
  return { earlier, turns: own === undefined ? [] : (own as unknown as Entry).turns };
}

/** Newest first: ids of tasks ascend. */
async function* entriesBefore(task: AgentTask, { shelf }: Ctx) {
  for (let beyond = keyOf(task); ; ) {
    const page = await shelf.list({ prefix: PREFIX, beyond, backwards: true, max: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    beyond = page.at(-1)?.key as string;
  }
}

/** Keeps the messages of this turn; a turn that is kept twice is kept once. `open`: it asks something. */
export async function keepTurn(
  task: AgentTask,
  { shelf, log }: Ctx,
  past: Past,
  messages: readonly Json[],
  open: boolean,
): Promise<void> {
  const turns: (readonly Json[])[] = [...past.turns];
  // A turn that left nothing is none.
  while (turns.length < task.turn - 1) turns.push([]);
  turns[task.turn - 1] = messages;
  const kept = open ? { turns, open } : toMemory({ turns });
  if (kept) await shelf.put([{ key: keyOf(task), value: kept as unknown as Json }]);
  else log.warn({ taskId: task.id }, "a task is too large to be remembered in its context");
}

/** Small enough that a few of them can be read at once; if need be without files. */
function toMemory(entry: Entry): Entry | undefined {
  const isSmall = (one: Entry): boolean => JSON.stringify(one).length <= LIMITS.historyTaskBytesMax;
  if (isSmall(entry)) return entry;
  const light = { turns: entry.turns.map(messages => messages.map(withoutFiles)) };
  return isSmall(light) ? light : undefined;
}

const FILES: ReadonlySet<unknown> = new Set(["file", "image_url", "reasoning-file"]);
const GONE: Json = { type: "text", text: "(a file was here)" };

function withoutFiles(message: Json): Json {
  if (!isObject(message) || !Array.isArray(message.content)) return message;
  const content = message.content.map((part: Json) => (isObject(part) && FILES.has(part.type) ? GONE : part));
  return { ...message, content };
}
