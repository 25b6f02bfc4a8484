import { Fault, hostOf, isTerminal, LIMITS, type Seq, type Step } from "../model/index.ts";
import type {
  FoundTask,
  Log,
  PushAttempt,
  PushEncoder,
  PushProgress,
  PushSubscription,
  Store,
  Targets,
} from "../ports/index.ts";
import { type AttemptParts, type AttemptResult, attemptDelivery } from "./attempt.ts";
import { isOverdue, nextAttemptAt, type RetryParts } from "./backoff.ts";
import type { HostLimits } from "./host-limits.ts";
import { nextPayload, type PushPayload } from "./payload.ts";
import { type PushRequestParts, toPushRequest } from "./request.ts";

export interface DeliveryParts extends PushRequestParts, AttemptParts, RetryParts {
  readonly store: Store;
  readonly encoders: readonly PushEncoder[];
  readonly targets: Targets;
  readonly hosts: HostLimits;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  readonly log: Log;
}

/**
 * Delivers the pending payloads of one claimed subscription in order, until there are none, an attempt fails, or a page of
 * the log is done. The result of each attempt is committed before the next payload is sent.
 */
export async function deliverPending(
  parts: DeliveryParts,
  claimed: PushSubscription,
  stop: AbortSignal,
): Promise<void> {
  const delivery = new PendingDelivery(parts, claimed, stop);
  const hasMore = await delivery.run();
  await parts.store.deliveries.release(delivery.claimed, delivery.cursor, hasMore);
}

class PendingDelivery {
  readonly #parts: DeliveryParts;
  readonly #stop: AbortSignal;
  claimed: PushSubscription;
  /** Events up to this one are delivered or skipped. */
  cursor: Seq;

  constructor(parts: DeliveryParts, claimed: PushSubscription, stop: AbortSignal) {
    this.#parts = parts;
    this.#stop = stop;
    this.claimed = claimed;
    this.cursor = claimed.cursor;
  }

  /** Whether there is more to deliver at once. */
  async run(): Promise<boolean> {
    const { store, encoders, targets } = this.#parts;
    const { scope, taskId, config } = this.claimed;
    const found = await store.tasks.get(scope, taskId);
    if (found?.task.reply) return this.#finish();
    // Before the agent's first event it may still become a bare message.
    if (!found?.task.shown) return false;
    if (isOverdue(this.#parts, this.claimed)) return this.#giveUp("the retry period has expired");
    const encoder = encoders.find(one => one.name === config.origin);
    if (!encoder) return this.#giveUp(`the dialect ${config.origin} is no longer enabled`);
    const problem = targets.refusalOf(new URL(config.url));
    if (problem) return this.#giveUp(`the URL ${problem}`);
    return this.#deliverPage(encoder, found);
  }

  async #deliverPage(encoder: PushEncoder, found: FoundTask): Promise<boolean> {
    let steps = await this.#readPage();
    for (;;) {
      const payload = await this.#orGiveUp(() => nextPayload(this.claimed, steps, encoder.encodePush));
      if (payload === false) return false;
      if (!payload) break;
      if (!(await this.#send(payload))) return false;
      steps = steps.filter(step => step.seq > payload.seq);
    }
    const last = steps.at(-1);
    if (last) this.cursor = last.seq;
    if (this.cursor < found.seq) return true;
    return isTerminal(found.task.status.state) && this.claimed.state === "live" ? this.#finish() : false;
  }

  /** An encoding that fails once always fails: its key is lost, or there is a bug. */
  async #orGiveUp<T>(encode: () => T): Promise<T | false> {
    try {
      return encode();
    } catch (error) {
      if (error instanceof Fault) return this.#giveUp(error.message);
      const { taskId } = this.claimed;
      this.#parts.log.error({ err: error, taskId }, "a push payload could not be encoded");
      return this.#giveUp("the payload could not be encoded; see the server log");
    }
  }

  /** A page of the log, extended to the end of a payload whose delivery has begun. */
  async #readPage(): Promise<readonly Step[]> {
    const { scope, taskId, until = 0 } = this.claimed;
    const steps: Step[] = [];
    for (let after = this.cursor; ; after = (steps.at(-1) as Step).seq) {
      const more = await this.#parts.store.log.read(scope, taskId, after, LIMITS.readMax);
      steps.push(...more);
      if (more.length === 0 || (more.at(-1) as Step).seq >= until) return steps;
    }
  }

  /** Whether the next payload may follow. */
  async #send(payload: PushPayload): Promise<boolean> {
    const { failed } = this.claimed;
    if (payload.isText && this.claimed.until !== payload.seq) {
      const begun: PushProgress = { cursor: this.cursor, state: "live", until: payload.seq };
      if (!(await this.#record(failed ? { ...begun, failed } : begun))) return false;
    }
    const { wallTime, ticks, hosts } = this.#parts;
    const { config, key } = this.claimed;
    const at = wallTime();
    const began = ticks();
    const { encoded } = payload;
    const body = encoded.readBody ? await encoded.readBody() : encoded.body;
    const whole = { ...payload, encoded: { ...encoded, body } };
    const request = await this.#orGiveUp(() =>
      toPushRequest(this.#parts, config, whole, { id: `${key}_${payload.seq}`, at }),
    );
    if (!request) return false;
    const result = await attemptDelivery(this.#parts, request, this.#stop);
    if (result.kind === "stopped") return false;
    hosts.recordAttempt(hostOf(config), result.status !== undefined);
    return this.#recordResult(payload, result, at, Math.round(ticks() - began));
  }

  async #recordResult(payload: PushPayload, result: AttemptResult, at: number, ms: number): Promise<boolean> {
    const { seq } = payload;
    const { status, error, kind } = result;
    if (kind === "gone") return this.#remove();
    const attempt = { at, seq, ms, ...(status !== undefined && { status }), ...(error && { error }) };
    if (kind === "taken") {
      const isOver = payload.encoded.isLast || isTerminal(payload.task.status.state);
      const state = isOver ? "done" : "live";
      this.cursor = seq;
      return (await this.#record({ cursor: seq, state }, attempt)) && state === "live";
    }
    const failed = {
      count: (this.claimed.failed?.count ?? 0) + 1,
      // A clock that was set back must not extend the retry period.
      since: Math.min(this.claimed.failed?.since ?? at, at),
    };
    const nextAt = kind === "refused" ? undefined : nextAttemptAt(this.#parts, failed, result.retryAfterMs);
    const progress = { cursor: this.cursor, failed, ...(payload.isText && { until: seq }) };
    if (nextAt === undefined) {
      this.#warn("a delivery to a webhook was given up", { error, attempts: failed.count });
      await this.#record({ ...progress, state: "dead" }, attempt);
    } else await this.#record({ ...progress, state: "live", nextAt }, { ...attempt, nextAt });
    return false;
  }

  async #finish(): Promise<false> {
    await this.#record({ cursor: this.cursor, state: "done" });
    return false;
  }

  async #giveUp(error: string): Promise<false> {
    const { failed, until } = this.claimed;
    const at = this.#parts.wallTime();
    this.#warn("a webhook was given up", { error });
    await this.#record(
      { cursor: this.cursor, state: "dead", ...(failed && { failed }), ...(until && { until }) },
      { at, seq: this.cursor, ms: 0, error },
    );
    return false;
  }

  async #remove(): Promise<false> {
    await this.#parts.store.deliveries.remove(this.claimed);
    this.#warn("a webhook answered 410 (Gone): its config is deleted", { status: 410 });
    return false;
  }

  /** false: the subscription was deleted or replaced meanwhile. */
  async #record(progress: PushProgress, attempt?: PushAttempt): Promise<boolean> {
    const claimed = await this.#parts.store.deliveries.record(this.claimed, progress, attempt);
    if (claimed) this.claimed = claimed;
    return claimed !== null;
  }

  #warn(text: string, facts: object): void {
    const { taskId, config } = this.claimed;
    this.#parts.log.warn({ taskId, config: config.id, host: hostOf(config), ...facts }, text);
  }
}
