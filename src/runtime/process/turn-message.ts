/** The line that starts a turn of a program. */
import type { AgentTask, Ctx } from "../../agent/context.ts";
import { defined, type JsonObject } from "../../lib/json.ts";
import { LIMITS, type Message } from "../../model/index.ts";

/** The protocol version: docs/reference/program-protocol.md. */
const PROTOCOL = 1;

export async function toTurn(task: AgentTask, ctx: Ctx, historyMax: number): Promise<JsonObject> {
  const { id, contextId, turn, metadata } = task;
  return defined<JsonObject>({
    type: "turn",
    protocol: PROTOCOL,
    task: { id, contextId, turn, attempt: ctx.attempt, metadata },
    text: task.text,
    data: task.data,
    answers: task.answers,
    message: toMessage(task.message),
    history: (await readEarlier(task, ctx, historyMax)).map(toMessage),
    caller: { tenant: ctx.caller.tenant, principal: ctx.caller.principal },
    trace: ctx.trace as unknown as JsonObject | undefined,
  } as Record<string, JsonObject[string] | undefined> as JsonObject);
}

export const toMessage = ({ messageId, role, parts, metadata }: Message): JsonObject =>
  defined({ messageId, role, parts, metadata } as unknown as JsonObject);

/** The newest earlier messages of the context and of the task, oldest first. */
async function readEarlier(task: AgentTask, ctx: Ctx, max: number): Promise<readonly Message[]> {
  if (max === 0) return [];
  const own = task.history.filter(({ messageId }) => messageId !== task.message.messageId);
  const all = [...(await ctx.history), ...own].slice(-max);
  let bytesLeft: number = LIMITS.historyBytesMax;
  const from = all.findLastIndex(message => (bytesLeft -= JSON.stringify(message.parts).length) < 0);
  return all.slice(from + 1);
}
