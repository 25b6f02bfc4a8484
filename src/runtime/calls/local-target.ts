/** An agent of the same server, as the target of a call: no address, no connection, the same caller. */
import { type AgentUpdate, dedupe } from "../../client/dedupe.ts";
import { ClientError, messageOf, UnavailableError } from "../../client/errors.ts";
import { withRetry } from "../../client/retry.ts";
import type { ReceivedResponse, StreamResponse } from "../../client/types.ts";
import type { Json } from "../../lib/json.ts";
import {
  type ContextId,
  Fault,
  type FaultCode,
  type Message,
  type Seq,
  type Step,
  sumUsage,
  type TaskId,
  type Usage,
} from "../../model/index.ts";
import type { LocalAgents, LocalMessage } from "../../ports/index.ts";
import { type SentMessage, toRetryOptions } from "./remote-call.ts";
import type { CallTarget, TargetParts } from "./target.ts";

/** Refused for now: the server is stopping or full, or a limit of the caller is reached. */
const TEMPORARY: ReadonlySet<FaultCode> = new Set<FaultCode>([
  "unavailable",
  "rate-limited",
  "busy",
  "conflict",
]);

export class LocalTarget implements CallTarget {
  readonly name: string;
  readonly #parts: TargetParts;
  readonly #agents: LocalAgents;
  #usage: Usage | undefined;

  constructor(name: string, agents: LocalAgents, parts: TargetParts) {
    this.name = name;
    this.#agents = agents;
    this.#parts = parts;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  async send(): Promise<SentMessage> {
    const { signal } = this.#parts;
    const message = await this.#message();
    const retry = toRetryOptions({ log: this.#parts.ctx.log, signal }, this.name, true);
    const { taskId, contextId, seq, reply } = await withRetry(retry, () =>
      this.#agents.send(this.name, message, signal).catch(error => {
        throw toClientError(this.name, error);
      }),
    );
    return {
      taskId: reply ? null : taskId,
      contextId,
      eventId: seq === null ? null : String(seq),
      reply: reply as unknown as Json,
    };
  }

  read({ taskId, contextId, eventId, reply }: SentMessage): AsyncIterable<AgentUpdate> {
    const seq = (eventId === null ? null : Number(eventId)) as Seq | null;
    const turn = { taskId: taskId as TaskId, contextId: contextId as ContextId, seq, reply: null };
    const steps = reply === null ? this.#agents.read(turn, this.#parts.signal) : [];
    return dedupe(this.#toResponses(steps, reply as unknown as Message | null), {});
  }

  async cancel({ taskId }: SentMessage): Promise<void> {
    if (taskId === null) return;
    try {
      await this.#agents.cancel(this.name, taskId as TaskId);
    } catch (error) {
      this.#parts.ctx.log.info({ taskId }, `the called task was not canceled: ${messageOf(error)}`);
    }
  }

  explain = (error: unknown): unknown => error;

  close(): void {}

  async #message(): Promise<LocalMessage> {
    const { task, ctx } = this.#parts;
    const { messageId, parts, taskId, contextId, callMetadata } = await this.#parts.message();
    return {
      messageId,
      parts,
      ...(taskId !== undefined && { taskId: taskId as TaskId }),
      ...(contextId !== undefined && { contextId: contextId as ContextId }),
      ...(callMetadata && { metadata: callMetadata }),
      thread: task.thread,
      trace: ctx.trace,
      hops: ctx.hops + 1,
    };
  }

  async *#toResponses(
    steps: AsyncIterable<Step> | readonly Step[],
    reply: Message | null,
  ): AsyncGenerator<ReceivedResponse> {
    if (reply) yield { item: { kind: "message", message: reply }, raw: null };
    for await (const step of steps) {
      if (step.event?.type === "usage") this.#usage = sumUsage(this.#usage, step.event.usage);
      const item = toResponse(step);
      if (item) yield { item, raw: null };
    }
  }
}

function toResponse({ event, taskId, contextId, task }: Step): StreamResponse | undefined {
  switch (event?.type) {
    case "artifact": {
      const { artifact, append, last } = event;
      return { kind: "artifact", taskId, contextId, artifact, append, last };
    }
    case "status": {
      const { state, message, metadata } = event;
      return {
        kind: "status",
        taskId,
        contextId,
        state,
        ...(message && { message }),
        ...(metadata && { metadata }),
      };
    }
    case "reply":
      return { kind: "message", message: event.message };
    case "cancel":
    case "released":
      return undefined;
    default: {
      // Some events end a turn by themselves, such as the cancel of a task that waits.
      const { state, message } = task.status;
      return state === "canceled"
        ? { kind: "status", taskId, contextId, state, ...(message && { message }) }
        : undefined;
    }
  }
}

function toClientError(name: string, error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  const message = `The agent "${name}" refused the call: ${error.message}`;
  const { retryAfterMs } = error.details;
  if (TEMPORARY.has(error.code))
    return new UnavailableError(message, error.code, { cause: error, retryAfterMs });
  return new ClientError(message, error);
}
