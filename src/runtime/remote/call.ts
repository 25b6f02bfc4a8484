/** `ctx.call`: an agent of ours speaks to one somewhere else. */

import type { CallOptions, CallReply, CallStep } from "../../agent/calls.ts";
import type { AgentTask, Ctx } from "../../agent/definition.ts";
import { type Heard, type HeardEnd, hear } from "../../client/dedupe.ts";
import { patiently } from "../../client/retry.ts";
import { defined, isObject, type JsonObject } from "../../lib/json.ts";
import { type Artifact, type Part, textOf, withArtifact } from "../../model/index.ts";
import { relay, type Say } from "../shared/relay.ts";
import { NOBODY } from "./auth.ts";
import { Connection, type OpenedAgent, type WayOut } from "./connection.ts";
import { isCanceled, Leash } from "./deadline.ts";
import { toArtifacts } from "./events.ts";
import { toPassage } from "./message-draft.ts";
import { type Arrived, cancelThere, Errand, toPatience } from "./remote-call.ts";

export interface CallParts {
  readonly task: AgentTask;
  readonly ctx: Ctx;
  /** Which call of the run it is: the same when the run begins anew. */
  readonly nth: number;
  readonly to: string | JsonObject;
  readonly parts: readonly Part[];
  readonly options: CallOptions;
}

/** Says what the other says, and returns what became of it. */
export async function* call(parts: CallParts): AsyncGenerator<CallStep, CallReply> {
  const { ctx, options } = parts;
  const leash = new Leash(ctx, options.timeoutMs);
  const errand = new CallErrand(parts, leash);
  try {
    const arrived = await ctx.step(errand.name, () => errand.explained(errand.send()));
    leash.sent();
    await errand.keep(arrived);
    let isLive = false;
    const reply = yield* relay<CallReply, CallStep>(say =>
      ctx.step(`${errand.name} answer`, () => {
        isLive = true;
        return errand.explained(errand.listen(arrived, say));
      }),
    );
    if (!isLive) yield* recounted(reply);
    return reply;
  } catch (error) {
    if (isCanceled(ctx) || leash.isLate) await errand.cancel();
    throw leash.signal.aborted ? leash.signal.reason : error;
  } finally {
    leash.drop();
    errand.close();
  }
}

/** What was heard by an earlier run, all at once. */
function* recounted({ artifacts }: CallReply): Generator<CallStep> {
  for (const artifact of artifacts)
    yield { kind: "artifact", artifact, append: false, text: textOf(artifact.parts) };
}

const INSIDE =
  "Name it in the option callAllow; or call it with { trusted: true }, if no caller has a say in the address";

const shelfKey = (to: string): string => `call ${to}`;

class CallErrand {
  readonly name: string;
  readonly #parts: CallParts;
  readonly #leash: Leash;
  readonly #connection: Connection;
  #agent: OpenedAgent | undefined;
  #errand: Errand | undefined;
  #arrived: Arrived | undefined;

  constructor(parts: CallParts, leash: Leash) {
    this.#parts = parts;
    this.#leash = leash;
    const { to, options, nth } = parts;
    const { endpoint, dialect, headers } = options;
    // With a dialect of its own an address need not have a card.
    const isBare = dialect !== undefined && endpoint === undefined && typeof to === "string";
    const way = isBare ? { endpoint: to } : { card: to, endpoint };
    this.#connection = new Connection({ ...way, dialect, headers }, NOBODY);
    this.name = `call ${nth}`;
  }

  async send(): Promise<Arrived> {
    const errand = await this.#open();
    this.#arrived = await errand.send();
    return { ...this.#arrived };
  }

  /** Keeps the conversation for the next call; not before it is on record that this one arrived. */
  async keep({ contextId }: Arrived): Promise<void> {
    const key = this.#place();
    if (contextId && key !== undefined) await this.#parts.ctx.shelf.put([{ key, value: { contextId } }]);
  }

  async listen(arrived: Arrived, say: Say<CallStep>): Promise<CallReply> {
    this.#arrived = arrived;
    const errand = await this.#open();
    const agent = this.#agent as OpenedAgent;
    const folded = new Folded();
    for await (const heard of hear(errand.listen(arrived), agent.endpoint.dialect))
      for (const step of folded.take(heard)) if (!(await isHeard(say(step)))) return folded.toReply(arrived);
    return folded.toReply(arrived);
  }

  explained<T>(work: Promise<T>): Promise<T> {
    return work.catch(error => {
      throw this.#connection.explain(error, INSIDE);
    });
  }

  async cancel(): Promise<void> {
    if (this.#agent && this.#arrived) await cancelThere(this.#agent, this.#arrived, this.#parts.ctx.log);
  }

  close(): void {
    this.#connection.close();
  }

  async #open(): Promise<Errand> {
    if (this.#errand) return this.#errand;
    const { ctx } = this.#parts;
    const { signal } = this.#leash;
    const patience = toPatience({ log: ctx.log, signal }, this.#connection.address, ctx.attempt > 1);
    const agent = await patiently(patience, () => this.#connection.open(this.#way(), signal));
    this.#agent = agent;
    const draft = await this.#draft();
    this.#errand = new Errand({ agent, draft, again: true, signal, log: ctx.log });
    return this.#errand;
  }

  /** An address may come from a caller's words: unless the author says otherwise, it is called with care. */
  #way(): WayOut {
    const { trusted, guarded } = this.#parts.ctx.outbound;
    const isTrusted = this.#parts.options.trusted === true;
    return { chosen: isTrusted ? trusted : guarded, named: guarded, direct: isTrusted };
  }

  async #draft() {
    const { task, ctx, nth, parts, options } = this.#parts;
    const name = `${task.id}-${task.turn}-call-${nth}`;
    return {
      ...toPassage(task, ctx, name),
      messageId: name,
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
    const key = this.#place();
    const kept = key === undefined ? undefined : await this.#parts.ctx.shelf.get(key);
    return isObject(kept) && typeof kept.contextId === "string" ? kept.contextId : undefined;
  }

  /** Where the conversation with that agent is kept; a card that was handed in has no name. */
  #place(): string | undefined {
    const { to } = this.#parts;
    return typeof to === "string" ? shelfKey(to) : undefined;
  }
}

/** false: the author has heard enough. */
const isHeard = (said: Promise<void>): Promise<boolean> =>
  said.then(
    () => true,
    () => false,
  );

/** What was heard, put together. */
class Folded {
  #artifacts: readonly Artifact[] = [];
  #end: HeardEnd | undefined;

  *take(heard: Heard): Generator<CallStep> {
    if (heard.kind === "end") this.#end = heard;
    else if (heard.kind === "status")
      yield { kind: "status", message: heard.message, text: textOf(heard.message.parts) };
    else {
      for (const event of toArtifacts(heard)) this.#artifacts = withArtifact(this.#artifacts, event);
      const { artifact, append } = heard;
      yield { kind: "artifact", artifact, append, text: textOf(artifact.parts) };
    }
  }

  /** What there is, if somebody did not want to hear it to the end. */
  toReply({ taskId, contextId }: Arrived): CallReply {
    const end = this.#end ?? { state: "working" as const, message: undefined, replied: undefined };
    if (end.state === "unknown") throw new Error("the other agent ended without telling in which state");
    const artifacts = this.#artifacts;
    const words = artifacts.map(artifact => textOf(artifact.parts)).join("");
    return {
      text: words || textOf(end.message?.parts ?? []),
      state: end.state,
      task: end.replied || taskId === null ? null : { id: taskId, contextId: contextId ?? "" },
      artifacts,
      message: end.message ?? null,
    };
  }
}
