/** One message to a remote agent and its responses, across lost connections and restarts of this process. */
import { setTimeout as sleepFor } from "node:timers/promises";
import type { AgentTask, Ctx } from "../../agent/context.ts";
import { messageOf } from "../../client/errors.ts";
import { CLIENT_LIMITS, SERVER_CALL_LIMITS } from "../../client/limits.ts";
import { type Progress, updateProgress } from "../../client/progress.ts";
import { readResumable, resume } from "../../client/resume.ts";
import type { RetryOptions } from "../../client/retry.ts";
import { readStarted, startStream } from "../../client/start-stream.ts";
import type { OutgoingMessage, ReceivedResponse, StreamResponse } from "../../client/types.ts";
import type { Json } from "../../lib/json.ts";
import type { OpenedAgent } from "./connection.ts";

/** The recorded result of sending a message. */
export interface SentMessage {
  readonly taskId: string | null;
  readonly contextId: string | null;
  /** The event id after which all responses can be read again; null: none. */
  readonly eventId: string | null;
  /** The message with which the agent responded instead of a task. */
  readonly reply: Json;
}

export interface RemoteCallParts {
  readonly agent: OpenedAgent;
  readonly message: OutgoingMessage;
  /** See `StartParts`. */
  readonly resend: boolean;
  readonly signal: AbortSignal;
  readonly log: Ctx["log"];
}

export class RemoteCall {
  readonly #parts: RemoteCallParts;
  /** The responses since this process has sent the message. */
  #live: AsyncIterable<ReceivedResponse> | undefined;

  constructor(parts: RemoteCallParts) {
    this.#parts = parts;
  }

  /** Sends the message. The result is recorded and passed to `read`, perhaps in another process. */
  async send(): Promise<SentMessage> {
    const { message, resend } = this.#parts;
    const started = await startStream({ ...this.#retryParts(false), resend }, message);
    this.#live = readStarted(started);
    const { taskId = null, contextId = null, replied } = updateProgress({}, started.first);
    const { item, eventId } = started.first;
    const reply = replied && item.kind === "message" ? (item.message as unknown as Json) : null;
    return { taskId, contextId, eventId: toEventIdBefore(item, eventId), reply };
  }

  /** All responses to the message, including those that an earlier process has read. */
  read(sent: SentMessage): AsyncIterable<ReceivedResponse> {
    if (sent.reply !== null) return readReply(sent.reply);
    const parts = { ...this.#retryParts(true), until: "settled" as const };
    const live = this.#live;
    this.#live = undefined;
    if (live) {
      const isFollowUp = this.#parts.message.taskId !== undefined;
      return readResumable({ ...parts, isFollowUp }, live, {});
    }
    const progress: Progress = {
      ...(sent.taskId !== null && { taskId: sent.taskId }),
      ...(sent.contextId !== null && { contextId: sent.contextId }),
      ...(sent.eventId !== null && { eventId: sent.eventId }),
    };
    return readResumable(parts, resume(parts.agent, progress, parts), progress);
  }

  #retryParts(isSent: boolean) {
    const { agent } = this.#parts;
    return { agent, ...toRetryOptions(this.#parts, agent.endpoint.url, isSent) };
  }
}

/** `isSent`: there is a remote task to lose, so it is retried for minutes instead of seconds. */
export const toRetryOptions = (
  { log, signal }: Pick<RemoteCallParts, "log" | "signal">,
  url: string,
  isSent: boolean,
): RetryOptions => ({
  signal,
  delaysMs: isSent ? SERVER_CALL_LIMITS.backgroundRetryDelaysMs : CLIENT_LIMITS.retryDelaysMs,
  sleep: ms => sleepFor(ms, undefined, { signal }),
  onRetry: text => log.info({ url }, text),
});

/**
 * Headers and thread of a call. `key` is the same when the call is repeated: servers that support idempotency keys
 * process it once.
 */
export function toCallHeaders(
  task: AgentTask,
  ctx: Ctx,
  key: string,
): Pick<OutgoingMessage, "headers" | "thread"> {
  const { traceparent, tracestate, baggage } = ctx.trace ?? {};
  return {
    thread: task.thread,
    headers: {
      "idempotency-key": key,
      "dragoman-hops": String(ctx.hops + 1),
      ...(traceparent !== undefined && { traceparent }),
      ...(tracestate !== undefined && { tracestate }),
      ...(baggage !== undefined && { baggage }),
    },
  };
}

/** A first event with content must be read again, too; servers that number their events start at 1. */
function toEventIdBefore(item: StreamResponse, eventId: string | undefined): string | null {
  if (eventId === undefined) return null;
  const isEmpty =
    (item.kind === "status" && !item.message) ||
    (item.kind === "task" && !item.task.message && item.task.artifacts.length === 0);
  if (isEmpty) return eventId;
  return /^\d+$/.test(eventId) ? "0" : null;
}

async function* readReply(reply: Json): AsyncGenerator<ReceivedResponse> {
  yield { item: { kind: "message", message: reply } as unknown as StreamResponse, raw: reply };
}

/** Best effort: the remote agent may refuse. */
export async function cancelRemoteTask(
  agent: OpenedAgent,
  { taskId, contextId }: SentMessage,
  log: Ctx["log"],
): Promise<void> {
  if (taskId === null) return;
  try {
    const task = { taskId, contextId: contextId ?? undefined };
    await agent.cancel(task, AbortSignal.timeout(SERVER_CALL_LIMITS.cancelMs));
  } catch (error) {
    log.info({ url: agent.endpoint.url, taskId }, `the remote task was not canceled: ${messageOf(error)}`);
  }
}
