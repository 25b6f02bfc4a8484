/** The implementation of `ctx.call`. */

import type { CallOptions, CallReply, CallStep } from "../../agent/calls.ts";
import type { AgentTask, Ctx } from "../../agent/context.ts";
import { isAgentName } from "../../agent/definition.ts";
import type { AgentUpdate, FinalUpdate } from "../../client/dedupe.ts";
import type { OutgoingMessage } from "../../client/types.ts";
import { defined, isObject, type JsonObject } from "../../lib/json.ts";
import { type Artifact, type Part, textOf, type Usage, withArtifact } from "../../model/index.ts";
import type { LocalAgents } from "../../ports/index.ts";
import { type Emit, relay } from "../shared/relay.ts";
import { Deadline, isCanceled } from "./deadline.ts";
import { toArtifactEvents } from "./events.ts";
import { LocalTarget } from "./local-target.ts";
import { type SentMessage, toCallHeaders } from "./remote-call.ts";
import { RemoteTarget } from "./remote-target.ts";
import type { CallTarget } from "./target.ts";

export interface OutgoingCallParts {
  readonly task: AgentTask;
  readonly ctx: Ctx;
  readonly agents: LocalAgents;
  /** The number of the call in the run: the same when the run is repeated. */
  readonly nth: number;
  /** The name of an agent of this server, a URL, or a card. */
  readonly to: string | JsonObject;
  readonly parts: readonly Part[];
  readonly options: CallOptions;
  /** Adds what another agent of this server has used for this message. */
  readonly addUsage: (messageId: string, usage: Usage) => void;
}

/** Sending and reading are two recorded steps: a repeated run does not send twice, and reads a finished reply from the record. */
export async function* call(parts: OutgoingCallParts): AsyncGenerator<CallStep, CallReply> {
  const { ctx, options } = parts;
  const deadline = new Deadline(ctx, options.timeoutMs);
  const outgoing = new OutgoingCall(parts, deadline);
  try {
    const sent = await ctx.step(outgoing.name, () => outgoing.explained(outgoing.send()));
    outgoing.sent = sent;
    deadline.markSent();
    await outgoing.saveContext(sent);
    let isLive = false;
    const reply = yield* relay<RecordedReply, CallStep>(emit =>
      ctx.step(`${outgoing.name} answer`, () => {
        isLive = true;
        return outgoing.explained(outgoing.read(sent, emit));
      }),
    );
    if (!isLive) yield* toSteps(reply);
    if (reply.usage) parts.addUsage(outgoing.messageId, reply.usage);
    return { ...reply, to: parts.to };
  } catch (error) {
    if (isCanceled(ctx) || deadline.isExceeded) await outgoing.cancel();
    throw deadline.signal.aborted ? deadline.signal.reason : error;
  } finally {
    deadline.clear();
    outgoing.close();
  }
}

/** The updates of a recorded reply. */
function* toSteps({ artifacts }: RecordedReply): Generator<CallStep> {
  for (const artifact of artifacts)
    yield { kind: "artifact", artifact, append: false, text: textOf(artifact.parts) };
}

/** Recorded without the address, which may be a whole card. */
type RecordedReply = Omit<CallReply, "to">;

class OutgoingCall {
  readonly name: string;
  readonly messageId: string;
  sent: SentMessage | undefined;
  readonly #parts: OutgoingCallParts;
  readonly #target: CallTarget;

  constructor(parts: OutgoingCallParts, deadline: Deadline) {
    this.#parts = parts;
    const { task, ctx, to, options, nth, agents } = parts;
    this.name = `call ${nth}`;
    this.messageId = `${task.id}-${task.turn}-call-${nth}`;
    const target = { task, ctx, signal: deadline.signal, message: () => this.#message() };
    this.#target = isLocal(parts)
      ? new LocalTarget(to as string, agents, target)
      : new RemoteTarget(to, options, target);
  }

  async send(): Promise<SentMessage> {
    this.sent = await this.#target.send();
    return { ...this.sent };
  }

  /** Stores the context id for the next call; only after the sent message is recorded. */
  async saveContext({ contextId }: SentMessage): Promise<void> {
    const key = this.#storageKey();
    if (contextId && key !== undefined) await this.#parts.ctx.storage.put([{ key, value: { contextId } }]);
  }

  async read(sent: SentMessage, emit: Emit<CallStep>): Promise<RecordedReply> {
    const reply = new ReplyCollector();
    for await (const update of this.#target.read(sent))
      for (const step of reply.add(update))
        if (!(await isRead(emit(step)))) return reply.toReply(sent, this.#target.usage);
    return reply.toReply(sent, this.#target.usage);
  }

  explained<T>(work: Promise<T>): Promise<T> {
    return work.catch(error => {
      throw this.#target.explain(error);
    });
  }

  async cancel(): Promise<void> {
    if (this.sent) await this.#target.cancel(this.sent);
  }

  close(): void {
    this.#target.close();
  }

  async #message(): Promise<OutgoingMessage> {
    const { task, ctx, parts, options } = this.#parts;
    const { messageId } = this;
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
    return this.#target.name === undefined ? undefined : `call ${this.#target.name}`;
  }
}

/** A name is no URL: it has neither dots nor colons. A dialect is for servers. */
const isLocal = ({ to, options }: OutgoingCallParts): boolean =>
  isAgentName(to) && options.dialect === undefined && options.endpoint === undefined;

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
  toReply({ taskId, contextId }: SentMessage, usage: Usage | undefined): RecordedReply {
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
      usage: usage ?? null,
    };
  }
}
