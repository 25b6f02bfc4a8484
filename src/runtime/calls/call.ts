/** The implementation of `ctx.call`. */

import type { CallOptions, CallReply, CallStep } from "../../agent/calls.ts";
import type { AgentTask, Ctx } from "../../agent/context.ts";
import { type AgentUpdate, dedupe, type FinalUpdate } from "../../client/dedupe.ts";
import { withRetry } from "../../client/retry.ts";
import { defined, isObject, type JsonObject } from "../../lib/json.ts";
import { type Artifact, type Part, textOf, withArtifact } from "../../model/index.ts";
import { type Emit, relay } from "../shared/relay.ts";
import { AgentConnection, NO_CREDENTIALS, type OpenedAgent, type OutboundAccess } from "./connection.ts";
import { Deadline, isCanceled } from "./deadline.ts";
import { toArtifactEvents } from "./events.ts";
import {
  cancelRemoteTask,
  RemoteCall,
  type SentMessage,
  toCallHeaders,
  toRetryOptions,
} from "./remote-call.ts";

export interface OutgoingCallParts {
  readonly task: AgentTask;
  readonly ctx: Ctx;
  /** The number of the call in the run: the same when the run is repeated. */
  readonly nth: number;
  readonly to: string | JsonObject;
  readonly parts: readonly Part[];
  readonly options: CallOptions;
}

/** Sending and reading are two recorded steps: a repeated run does not send twice, and reads a finished reply from the record. */
export async function* call(parts: OutgoingCallParts): AsyncGenerator<CallStep, CallReply> {
  const { ctx, options } = parts;
  const deadline = new Deadline(ctx, options.timeoutMs);
  const outgoing = new OutgoingCall(parts, deadline);
  try {
    const sent = await ctx.step(outgoing.name, () => outgoing.explained(outgoing.send()));
    deadline.markSent();
    await outgoing.saveContext(sent);
    let isLive = false;
    const reply = yield* relay<CallReply, CallStep>(emit =>
      ctx.step(`${outgoing.name} answer`, () => {
        isLive = true;
        return outgoing.explained(outgoing.read(sent, emit));
      }),
    );
    if (!isLive) yield* toSteps(reply);
    return reply;
  } catch (error) {
    if (isCanceled(ctx) || deadline.isExceeded) await outgoing.cancel();
    throw deadline.signal.aborted ? deadline.signal.reason : error;
  } finally {
    deadline.clear();
    outgoing.close();
  }
}

/** The updates of a recorded reply. */
function* toSteps({ artifacts }: CallReply): Generator<CallStep> {
  for (const artifact of artifacts)
    yield { kind: "artifact", artifact, append: false, text: textOf(artifact.parts) };
}

const PRIVATE_ADDRESS =
  "Add it to the option callAllow; or call it with { trusted: true }, if no caller can influence the address";

class OutgoingCall {
  readonly name: string;
  readonly #parts: OutgoingCallParts;
  readonly #deadline: Deadline;
  readonly #connection: AgentConnection;
  #agent: OpenedAgent | undefined;
  #call: RemoteCall | undefined;
  #sent: SentMessage | undefined;

  constructor(parts: OutgoingCallParts, deadline: Deadline) {
    this.#parts = parts;
    this.#deadline = deadline;
    const { to, options, nth } = parts;
    const { endpoint, dialect, headers } = options;
    // With a dialect and no endpoint the URL is the endpoint itself, without a card.
    const isEndpoint = dialect !== undefined && endpoint === undefined && typeof to === "string";
    const target = isEndpoint ? { endpoint: to } : { card: to, endpoint };
    this.#connection = new AgentConnection({ ...target, dialect, headers }, NO_CREDENTIALS);
    this.name = `call ${nth}`;
  }

  async send(): Promise<SentMessage> {
    const call = await this.#open();
    this.#sent = await call.send();
    return { ...this.#sent };
  }

  /** Stores the context id for the next call; only after the sent message is recorded. */
  async saveContext({ contextId }: SentMessage): Promise<void> {
    const key = this.#storageKey();
    if (contextId && key !== undefined) await this.#parts.ctx.storage.put([{ key, value: { contextId } }]);
  }

  async read(sent: SentMessage, emit: Emit<CallStep>): Promise<CallReply> {
    this.#sent = sent;
    const call = await this.#open();
    const agent = this.#agent as OpenedAgent;
    const reply = new ReplyCollector();
    for await (const update of dedupe(call.read(sent), agent.endpoint.dialect))
      for (const step of reply.add(update)) if (!(await isRead(emit(step)))) return reply.toReply(sent);
    return reply.toReply(sent);
  }

  explained<T>(work: Promise<T>): Promise<T> {
    return work.catch(error => {
      throw this.#connection.explain(error, PRIVATE_ADDRESS);
    });
  }

  async cancel(): Promise<void> {
    if (this.#agent && this.#sent) await cancelRemoteTask(this.#agent, this.#sent, this.#parts.ctx.log);
  }

  close(): void {
    this.#connection.close();
  }

  async #open(): Promise<RemoteCall> {
    if (this.#call) return this.#call;
    const { log, attempt } = this.#parts.ctx;
    const { signal } = this.#deadline;
    const retry = toRetryOptions({ log, signal }, this.#connection.address, attempt > 1);
    const agent = await withRetry(retry, () => this.#connection.open(this.#access(), signal));
    this.#agent = agent;
    this.#call = new RemoteCall({ agent, message: await this.#message(), resend: true, signal, log });
    return this.#call;
  }

  /** The URL may come from a caller: private addresses are refused unless the author trusts it. */
  #access(): OutboundAccess {
    const { trusted, guarded } = this.#parts.ctx.outbound;
    const isTrusted = this.#parts.options.trusted === true;
    return { configured: isTrusted ? trusted : guarded, fromCard: guarded, direct: isTrusted };
  }

  async #message() {
    const { task, ctx, nth, parts, options } = this.#parts;
    const messageId = `${task.id}-${task.turn}-call-${nth}`;
    return {
      ...toCallHeaders(task, ctx, messageId),
      messageId,
      parts,
      ...defined<{ taskId?: string; contextId?: string; callMetadata?: JsonObject }>({
        taskId: options.taskId,
        contextId: await this.#contextId(),
        callMetadata: options.metadata,
      }),
    };
  }

  async #contextId(): Promise<string | undefined> {
    const { contextId } = this.#parts.options;
    if (contextId !== undefined) return contextId === "new" ? undefined : contextId;
    const key = this.#storageKey();
    const stored = key === undefined ? undefined : await this.#parts.ctx.storage.get(key);
    return isObject(stored) && typeof stored.contextId === "string" ? stored.contextId : undefined;
  }

  /** The key of the context id; undefined: a card that is given as an object has no key. */
  #storageKey(): string | undefined {
    const { to } = this.#parts;
    return typeof to === "string" ? `call ${to}` : undefined;
  }
}

/** false: the author has stopped reading. */
const isRead = (emitted: Promise<void>): Promise<boolean> =>
  emitted.then(
    () => true,
    () => false,
  );

class ReplyCollector {
  #artifacts: readonly Artifact[] = [];
  #end: FinalUpdate | undefined;

  *add(update: AgentUpdate): Generator<CallStep> {
    if (update.kind === "end") this.#end = update;
    else if (update.kind === "status")
      yield { kind: "status", message: update.message, text: textOf(update.message.parts) };
    else {
      for (const event of toArtifactEvents(update)) this.#artifacts = withArtifact(this.#artifacts, event);
      const { artifact, append } = update;
      yield { kind: "artifact", artifact, append, text: textOf(artifact.parts) };
    }
  }

  /** Without a final update (the author has stopped reading) the state is "working". */
  toReply({ taskId, contextId }: SentMessage): CallReply {
    const end = this.#end ?? { state: "working" as const, message: undefined, replied: undefined };
    if (end.state === "unknown") throw new Error("the other agent ended its task in an unknown state");
    const artifacts = this.#artifacts;
    const text = artifacts.map(artifact => textOf(artifact.parts)).join("");
    return {
      text: text || textOf(end.message?.parts ?? []),
      state: end.state,
      task: end.replied || taskId === null ? null : { id: taskId, contextId: contextId ?? "" },
      artifacts,
      message: end.message ?? null,
    };
  }
}
