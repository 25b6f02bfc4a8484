/** An agent of ours that stands for one somewhere else: what is said to it goes there, what is said there comes back. */
import type { AgentTask, Ctx, Said } from "../../agent/definition.ts";
import { type Heard, type HeardEnd, hear } from "../../client/dedupe.ts";
import { Lost, Refusal } from "../../client/errors.ts";
import { patiently } from "../../client/retry.ts";
import type { Draft } from "../../client/types.ts";
import { defined, isObject, type JsonObject } from "../../lib/json.ts";
import { withCause } from "../../model/index.ts";
import type { Outbound } from "../../ports/index.ts";
import type { Connection, OpenedAgent, WayOut } from "./connection.ts";
import { isCanceled, Late, Leash } from "./deadline.ts";
import { toArtifacts, toMessage, toStatus } from "./events.ts";
import { toPassage } from "./message-draft.ts";
import { type Arrived, cancelThere, Errand, toPatience } from "./remote-call.ts";

export interface StandIn {
  readonly connection: Connection;
  /** How long one turn may take. */
  readonly timeoutMs: number | undefined;
  /** Whether a message that may have arrived is sent again. */
  readonly again: boolean;
}

/** To where whoever runs this server points; where only the card points is guarded. */
export const toWayOut = ({ trusted, guarded }: Outbound): WayOut => ({
  chosen: trusted,
  named: guarded,
  direct: true,
});

export async function* run(parts: StandIn, task: AgentTask, ctx: Ctx): AsyncGenerator<Said> {
  const leash = new Leash(ctx, parts.timeoutMs);
  const turn = new RemoteTurn(parts, task, ctx, leash);
  try {
    yield* turn.pass();
  } catch (error) {
    if (isCanceled(ctx) || leash.isLate) await turn.cancel();
    if (ctx.signal.aborted) throw error;
    yield toEnding(leash.signal.aborted ? leash.signal.reason : error, ctx);
  } finally {
    leash.drop();
  }
}

/** What our caller may hear of what went wrong; the rest is for the log. */
function toEnding(error: unknown, ctx: Ctx): Said {
  if (error instanceof Late) return withCause(ctx.fail(error.message), error);
  if (error instanceof Lost) {
    ctx.log.warn({ err: error }, "another agent was not reached");
    return withCause(ctx.fail("The agent behind this one cannot be reached"), error);
  }
  if (!(error instanceof Refusal) || error.kind === "unauthenticated" || error.said === "") throw error;
  ctx.log.info({ err: error }, "another agent refused a call");
  const said =
    error.kind === "task-not-found"
      ? ctx.fail("The agent behind this one no longer knows the task")
      : ctx.reject(`The agent behind this one refused: ${error.said}`);
  return withCause(said, error);
}

/** Where the other side is with a task of ours. */
interface Place {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly state?: string;
}

const CONTEXT = "remote";
const keyOf = (taskId: string): string => `remote/${taskId}`;

class RemoteTurn {
  readonly #parts: StandIn;
  readonly #task: AgentTask;
  readonly #ctx: Ctx;
  readonly #leash: Leash;
  #agent: OpenedAgent | undefined;
  #arrived: Arrived | undefined;
  #messages = 0;

  constructor(parts: StandIn, task: AgentTask, ctx: Ctx, leash: Leash) {
    this.#parts = parts;
    this.#task = task;
    this.#ctx = ctx;
    this.#leash = leash;
  }

  async *pass(): AsyncGenerator<Said> {
    const { connection } = this.#parts;
    const { signal } = this.#leash;
    try {
      const { log, attempt } = this.#ctx;
      const patience = toPatience({ log, signal }, connection.address, attempt > 1);
      const agent = await patiently(patience, () => connection.open(toWayOut(this.#ctx.outbound), signal));
      this.#agent = agent;
      yield* this.#talk(agent);
    } catch (error) {
      // The next one looks at the card again.
      connection.forget();
      throw connection.explain(error, "If the card is right, name it with the option endpoint");
    }
  }

  async cancel(): Promise<void> {
    if (this.#agent && this.#arrived) await cancelThere(this.#agent, this.#arrived, this.#ctx.log);
  }

  async *#talk(agent: OpenedAgent): AsyncGenerator<Said> {
    const ctx = this.#ctx;
    const place = await this.#find();
    const errand = new Errand({
      agent,
      draft: await this.#draft(place),
      again: this.#parts.again,
      signal: this.#leash.signal,
      log: ctx.log,
    });
    const arrived = await ctx.step("send", async () => {
      this.#arrived = (await this.#movedOn(agent, place)) ?? (await errand.send());
      return { ...this.#arrived };
    });
    this.#arrived = arrived;
    this.#leash.sent();
    // Not before it is on record that the message arrived: else a second try would say something else under the same name.
    await this.#keep(toPlace(arrived, place));
    for await (const heard of hear(errand.listen(arrived), agent.endpoint.dialect)) {
      // A wish for credentials may be fulfilled without us.
      if (heard.kind === "end" && heard.state === "auth-required")
        await this.#keep({ ...toPlace(arrived, place), state: heard.state });
      yield* this.#say(heard);
    }
  }

  /** Credentials may have come in another way: then the task went on without a message. */
  async #movedOn(agent: OpenedAgent, { taskId, contextId, state }: Place): Promise<Arrived | undefined> {
    if (taskId === undefined || state !== "auth-required") return undefined;
    const { task } = await agent.get({ taskId, contextId }, this.#leash.signal);
    if (task.state === state) return undefined;
    return { taskId, contextId: contextId ?? null, eventId: null, reply: null };
  }

  *#say(heard: Heard): Generator<Said> {
    if (heard.kind === "artifact") yield* toArtifacts(heard);
    else if (heard.kind === "end") yield* this.#conclude(heard);
    else yield toStatus("working", this.#message(heard), heard.metadata);
  }

  *#conclude(end: HeardEnd): Generator<Said> {
    const { state, metadata, replied } = end;
    const message = this.#message(end);
    if (replied && message && message.parts.length > 0) {
      const { taskId: _, ...bare } = message;
      yield { type: "reply", message: bare };
    } else if (state === "unknown" || state === "submitted") {
      throw new Error("the agent behind this one ended without telling in which state");
    } else yield toStatus(state, message, metadata);
  }

  #message({ message }: Pick<HeardEnd, "message">) {
    return message && toMessage(message, this.#task, ++this.#messages);
  }

  async #draft(place: Place): Promise<Draft> {
    const { message, metadata, accepts } = this.#task;
    const name = `${this.#task.id}-${this.#task.turn}`;
    const draft = {
      ...toPassage(this.#task, this.#ctx, name),
      messageId: name,
      parts: message.parts,
      taskId: place.taskId,
      contextId: place.contextId,
      metadata: message.metadata,
      extensions: message.extensions,
      accepts: accepts.length > 0 ? accepts : undefined,
      referenceTaskIds: await this.#references(),
      callMetadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    };
    return defined<typeof draft>(draft) as Draft;
  }

  /** Tasks of ours by the names that they have there. */
  async #references(): Promise<readonly string[] | undefined> {
    const { referenceTaskIds = [] } = this.#task.message;
    const places = await Promise.all(referenceTaskIds.map(id => this.#ctx.shelf.get(keyOf(id))));
    const ids = places.filter(isObject).flatMap(({ taskId }) => (typeof taskId === "string" ? [taskId] : []));
    return ids.length > 0 ? ids : undefined;
  }

  async #find(): Promise<Place> {
    const { shelf } = this.#ctx;
    const [task, context] = await Promise.all([shelf.get(keyOf(this.#task.id)), shelf.get(CONTEXT)]);
    const known = { ...(isObject(context) ? context : {}), ...(isObject(task) ? task : {}) };
    return known as Place;
  }

  async #keep(place: Place): Promise<void> {
    const { contextId } = place;
    const whole = contextId === undefined ? {} : { contextId };
    await this.#ctx.shelf.put([
      { key: keyOf(this.#task.id), value: place as JsonObject },
      { key: CONTEXT, value: whole },
    ]);
  }
}

/** What was known before counts where an answer does not tell. */
const toPlace = ({ taskId, contextId }: Arrived, before: Place): Place =>
  defined<Place>({
    taskId: taskId ?? undefined,
    contextId: contextId || before.contextId,
  });
