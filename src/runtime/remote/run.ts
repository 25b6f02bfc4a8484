/** Forwards a turn of our task to a remote agent, and its updates to our caller. */
import type { AgentOutput, AgentTask, Ctx } from "../../agent/context.ts";
import { type AgentUpdate, dedupe, type FinalUpdate } from "../../client/dedupe.ts";
import { RemoteError, UnavailableError } from "../../client/errors.ts";
import { withRetry } from "../../client/retry.ts";
import type { OutgoingMessage } from "../../client/types.ts";
import { defined, isObject, type JsonObject } from "../../lib/json.ts";
import { withCause } from "../../model/index.ts";
import type { Outbound } from "../../ports/index.ts";
import type { AgentConnection, OpenedAgent, OutboundAccess } from "../calls/connection.ts";
import { Deadline, DeadlineError, isCanceled } from "../calls/deadline.ts";
import { toArtifactEvents, toMessage, toStatus } from "../calls/events.ts";
import {
  cancelRemoteTask,
  RemoteCall,
  type SentMessage,
  toCallHeaders,
  toRetryOptions,
} from "../calls/remote-call.ts";

export interface RemoteRunParts {
  readonly connection: AgentConnection;
  /** The timeout of one turn. */
  readonly timeoutMs: number | undefined;
  /** Whether a message that may have arrived is sent again. */
  readonly resend: boolean;
}

/** Configured URLs may be private addresses; URLs that only the card contains may not. */
export const toOutboundAccess = ({ trusted, guarded }: Outbound): OutboundAccess => ({
  configured: trusted,
  fromCard: guarded,
  direct: true,
});

export async function* run(parts: RemoteRunParts, task: AgentTask, ctx: Ctx): AsyncGenerator<AgentOutput> {
  const deadline = new Deadline(ctx, parts.timeoutMs);
  const turn = new RemoteTurn(parts, task, ctx, deadline);
  try {
    yield* turn.forward();
  } catch (error) {
    if (isCanceled(ctx) || deadline.isExceeded) await turn.cancel();
    if (ctx.signal.aborted) throw error;
    yield toFinalEvent(deadline.signal.aborted ? deadline.signal.reason : error, ctx);
  } finally {
    deadline.clear();
  }
}

/** The error as our caller may see it; the details go to the log. */
function toFinalEvent(error: unknown, ctx: Ctx): AgentOutput {
  if (error instanceof DeadlineError) return withCause(ctx.fail(error.message), error);
  if (error instanceof UnavailableError) {
    ctx.log.warn({ err: error }, "a remote agent is unavailable");
    return withCause(ctx.fail("The remote agent is unavailable"), error);
  }
  if (!(error instanceof RemoteError) || error.code === "unauthenticated" || error.detail === "") throw error;
  ctx.log.info({ err: error }, "a remote agent refused a call");
  const event =
    error.code === "task-not-found"
      ? ctx.fail("The remote agent no longer has the task")
      : ctx.reject(`The remote agent refused the request: ${error.detail}`);
  return withCause(event, error);
}

/** The remote task of a task of ours, as it is stored. */
interface RemoteTaskRef {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly state?: string;
}

const CONTEXT_KEY = "remote";
const keyOf = (taskId: string): string => `remote/${taskId}`;

class RemoteTurn {
  readonly #parts: RemoteRunParts;
  readonly #task: AgentTask;
  readonly #ctx: Ctx;
  readonly #deadline: Deadline;
  #agent: OpenedAgent | undefined;
  #sent: SentMessage | undefined;
  #messages = 0;

  constructor(parts: RemoteRunParts, task: AgentTask, ctx: Ctx, deadline: Deadline) {
    this.#parts = parts;
    this.#task = task;
    this.#ctx = ctx;
    this.#deadline = deadline;
  }

  async *forward(): AsyncGenerator<AgentOutput> {
    const { connection } = this.#parts;
    const { signal } = this.#deadline;
    try {
      const { log, attempt, outbound } = this.#ctx;
      const retry = toRetryOptions({ log, signal }, connection.address, attempt > 1);
      this.#agent = await withRetry(retry, () => connection.open(toOutboundAccess(outbound), signal));
      yield* this.#sendAndRead(this.#agent);
    } catch (error) {
      // The next turn reads the card again.
      connection.forget();
      throw connection.explain(error, "If the card is right, set the option endpoint");
    }
  }

  async cancel(): Promise<void> {
    if (this.#agent && this.#sent) await cancelRemoteTask(this.#agent, this.#sent, this.#ctx.log);
  }

  async *#sendAndRead(agent: OpenedAgent): AsyncGenerator<AgentOutput> {
    const ctx = this.#ctx;
    const stored = await this.#readRef();
    const call = new RemoteCall({
      agent,
      message: await this.#message(stored),
      resend: this.#parts.resend,
      signal: this.#deadline.signal,
      log: ctx.log,
    });
    const sent = await ctx.step("send", async () => {
      this.#sent = (await this.#findContinued(agent, stored)) ?? (await call.send());
      return { ...this.#sent };
    });
    this.#sent = sent;
    this.#deadline.markSent();
    // Only after the sent message is recorded: a retry before that must send the same message with the same id.
    await this.#saveRef(toRef(sent, stored));
    for await (const update of dedupe(call.read(sent), agent.endpoint.dialect)) {
      // The user may give the credentials to the remote server directly: the next turn checks the state.
      if (update.kind === "end" && update.state === "auth-required")
        await this.#saveRef({ ...toRef(sent, stored), state: update.state });
      yield* this.#toEvents(update);
    }
  }

  /** A task that waited for credentials may have continued without a message. */
  async #findContinued(
    agent: OpenedAgent,
    { taskId, contextId, state }: RemoteTaskRef,
  ): Promise<SentMessage | undefined> {
    if (taskId === undefined || state !== "auth-required") return undefined;
    const { task } = await agent.get({ taskId, contextId }, this.#deadline.signal);
    if (task.state === state) return undefined;
    return { taskId, contextId: contextId ?? null, eventId: null, reply: null };
  }

  *#toEvents(update: AgentUpdate): Generator<AgentOutput> {
    if (update.kind === "artifact") yield* toArtifactEvents(update);
    else if (update.kind === "end") yield this.#toFinal(update);
    else yield toStatus("working", this.#toMessage(update), update.metadata);
  }

  #toFinal(update: FinalUpdate): AgentOutput {
    const { state, metadata, replied } = update;
    const message = this.#toMessage(update);
    if (replied && message && message.parts.length > 0) {
      const { taskId: _, ...reply } = message;
      return { type: "reply", message: reply };
    }
    if (state === "unknown" || state === "submitted")
      throw new Error("the remote agent ended its task in an unknown state");
    return toStatus(state, message, metadata);
  }

  #toMessage({ message }: Pick<FinalUpdate, "message">) {
    return message && toMessage(message, this.#task, ++this.#messages);
  }

  async #message({ taskId, contextId }: RemoteTaskRef): Promise<OutgoingMessage> {
    const { message, metadata, accepts } = this.#task;
    const messageId = `${this.#task.id}-${this.#task.turn}`;
    const outgoing = {
      ...toCallHeaders(this.#task, this.#ctx, messageId),
      messageId,
      parts: message.parts,
      taskId,
      contextId,
      metadata: message.metadata,
      extensions: message.extensions,
      accepts: accepts.length > 0 ? accepts : undefined,
      referenceTaskIds: await this.#referenceTaskIds(),
      callMetadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    };
    return defined<typeof outgoing>(outgoing) as OutgoingMessage;
  }

  /** Our task ids, replaced by the remote ones. */
  async #referenceTaskIds(): Promise<readonly string[] | undefined> {
    const { referenceTaskIds = [] } = this.#task.message;
    const refs = await Promise.all(referenceTaskIds.map(id => this.#ctx.storage.get(keyOf(id))));
    const ids = refs.filter(isObject).flatMap(({ taskId }) => (typeof taskId === "string" ? [taskId] : []));
    return ids.length > 0 ? ids : undefined;
  }

  async #readRef(): Promise<RemoteTaskRef> {
    const { storage } = this.#ctx;
    const [task, context] = await Promise.all([storage.get(keyOf(this.#task.id)), storage.get(CONTEXT_KEY)]);
    return { ...(isObject(context) ? context : {}), ...(isObject(task) ? task : {}) };
  }

  async #saveRef(ref: RemoteTaskRef): Promise<void> {
    const { contextId } = ref;
    await this.#ctx.storage.put([
      { key: keyOf(this.#task.id), value: ref as JsonObject },
      { key: CONTEXT_KEY, value: contextId === undefined ? {} : { contextId } },
    ]);
  }
}

/** A response without a context id does not change the stored one. */
const toRef = ({ taskId, contextId }: SentMessage, stored: RemoteTaskRef): RemoteTaskRef =>
  defined<RemoteTaskRef>({ taskId: taskId ?? undefined, contextId: contextId || stored.contextId });
