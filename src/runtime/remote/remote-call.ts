/** One message to an agent somewhere else and what is said to it, over lost connections and over the end of this process. */
import { setTimeout as sleepFor } from "node:timers/promises";
import type { Ctx } from "../../agent/definition.ts";
import { messageOf } from "../../client/errors.ts";
import { CLIENT_LIMITS } from "../../client/limits.ts";
import { advance, type Progress } from "../../client/progress.ts";
import { follow, rejoin } from "../../client/resume.ts";
import type { Patience } from "../../client/retry.ts";
import { begin, wholeOf } from "../../client/start-stream.ts";
import type { Draft, Item, Received } from "../../client/types.ts";
import type { Json } from "../../lib/json.ts";
import type { OpenedAgent } from "./connection.ts";

/** What is on record of a message that has arrived. */
export interface Arrived {
  readonly taskId: string | null;
  readonly contextId: string | null;
  /** After which event everything can be heard again; null: there is none. */
  readonly eventId: string | null;
  /** The answer was a bare message: this one. */
  readonly reply: Json;
}

export interface ErrandParts {
  readonly agent: OpenedAgent;
  readonly draft: Draft;
  /** See `BeginParts`. */
  readonly again: boolean;
  /** Ends the waiting for an answer. */
  readonly signal: AbortSignal;
  readonly log: Ctx["log"];
}

/** A message and what is said to it. */
export class Errand {
  readonly #parts: ErrandParts;
  /** What was said since the message was sent by this very process. */
  #live: AsyncIterable<Received> | undefined;

  constructor(parts: ErrandParts) {
    this.#parts = parts;
  }

  /** Sends the message. What it returns is to be kept, and `listen` wants it back, perhaps in another process. */
  async send(): Promise<Arrived> {
    const { draft, again } = this.#parts;
    const begun = await begin({ ...this.#followParts(false), again }, draft);
    this.#live = wholeOf(begun);
    const { taskId = null, contextId = null, replied } = advance({}, begun.first);
    const { item, eventId } = begun.first;
    const reply = replied && item.kind === "message" ? (item.message as unknown as Json) : null;
    return { taskId, contextId, eventId: placeBefore(item, eventId), reply };
  }

  /** What is said to the message, from the beginning; what was heard by an earlier process comes again. */
  listen(arrived: Arrived): AsyncIterable<Received> {
    if (arrived.reply !== null) return once(arrived);
    const { agent } = this.#parts;
    const parts = { ...this.#followParts(true), until: "settled" as const };
    const live = this.#live;
    this.#live = undefined;
    if (live) return follow(parts, live, {});
    const progress = toProgress(arrived);
    return follow(parts, rejoin(agent, progress, parts), progress);
  }

  #followParts(begun: boolean) {
    const { agent } = this.#parts;
    return { agent, ...toPatience(this.#parts, agent.endpoint.url, begun) };
  }
}

/** `begun`: there is work to be lost, so it is tried for minutes and not for seconds. */
export const toPatience = (
  { log, signal }: Pick<ErrandParts, "log" | "signal">,
  url: string,
  begun: boolean,
): Patience => ({
  signal,
  waitsMs: begun ? CLIENT_LIMITS.patientWaitsMs : CLIENT_LIMITS.resumeWaitsMs,
  sleep: ms => sleepFor(ms, undefined, { signal }),
  note: text => log.info({ url }, text),
});

export const toProgress = ({ taskId, contextId, eventId }: Arrived): Progress => ({
  ...(taskId !== null && { taskId }),
  ...(contextId !== null && { contextId }),
  ...(eventId !== null && { eventId }),
});

/** An event that itself says something must be heard again, too; servers that count begin at 1. */
function placeBefore(item: Item, eventId: string | undefined): string | null {
  if (eventId === undefined) return null;
  const isSilent =
    (item.kind === "status" && !item.message) ||
    (item.kind === "task" && !item.task.message && item.task.artifacts.length === 0);
  if (isSilent) return eventId;
  return /^\d+$/.test(eventId) ? "0" : null;
}

async function* once({ reply }: Arrived): AsyncGenerator<Received> {
  yield { item: { kind: "message", message: reply } as unknown as Item, raw: reply };
}

/** The other agent hears that nobody wants its task any more; what it makes of it is its affair. */
export async function cancelThere(agent: OpenedAgent, arrived: Arrived, log: Ctx["log"]): Promise<void> {
  const { taskId, contextId } = arrived;
  if (taskId === null) return;
  try {
    const task = { taskId, contextId: contextId ?? undefined };
    await agent.cancel(task, AbortSignal.timeout(CLIENT_LIMITS.cancelMs));
  } catch (error) {
    log.info({ url: agent.endpoint.url, taskId }, `a cancel was not taken: ${messageOf(error)}`);
  }
}
