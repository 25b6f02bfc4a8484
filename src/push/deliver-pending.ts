import { Fault, hostOf, isTerminal, LIMITS, type Seq, type Step } from "../model/index.ts";
import type {
  Dialect,
  FoundTask,
  Log,
  PushProgress,
  PushSubscription,
  Store,
  Targets,
} from "../ports/index.ts";
import { type Posted, type PostParts, post } from "./attempt.ts";
import { isOverdue, nextTry, type RetryParts } from "./backoff.ts";
import type { Hosts } from "./host-limits.ts";
import { firstParcel, type Parcel } from "./payload.ts";
import { type LetterParts, toLetter } from "./request.ts";

export interface RoundParts extends LetterParts, PostParts, RetryParts {
  readonly store: Store;
  readonly dialects: readonly Dialect[];
  readonly targets: Targets;
  readonly hosts: Hosts;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  readonly log: Log;
}

/**
 * Delivers what there is for one config, one thing after another, until there is no more, one fails, or others should have
 * their turn. What came of each is on record before the next is sent.
 */
export class Round {
  readonly #parts: RoundParts;
  readonly #stop: AbortSignal;
  #held: PushSubscription;
  /** Up to here it is delivered, or there is nothing to deliver. */
  #place: Seq;

  constructor(parts: RoundParts, claimed: PushSubscription, stop: AbortSignal) {
    this.#parts = parts;
    this.#stop = stop;
    this.#held = claimed;
    this.#place = claimed.cursor;
  }

  async go(): Promise<void> {
    const hasMore = await this.#deliver();
    await this.#parts.store.deliveries.release(this.#held, this.#place, hasMore);
  }

  /** Whether there is more to deliver, now. */
  async #deliver(): Promise<boolean> {
    const { store } = this.#parts;
    const { scope, taskId, config } = this.#held;
    const found = await store.tasks.get(scope, taskId);
    if (found?.task.reply) return this.#finish();
    // Whether it is a task at all is not known before its agent's first word.
    if (!found?.task.shown) return false;
    if (isOverdue(this.#parts, this.#held)) return this.#giveUp("there was no time left");
    const dialect = this.#parts.dialects.find(one => one.name === config.origin);
    if (!dialect) return this.#giveUp(`the dialect ${config.origin} is not spoken any more`);
    const problem = this.#parts.targets.refusalOf(new URL(config.url));
    if (problem) return this.#giveUp(`its url ${problem}`);
    return this.#deliverPage(dialect, found);
  }

  async #deliverPage(dialect: Dialect, found: FoundTask): Promise<boolean> {
    let steps = await this.#read();
    for (;;) {
      const parcel = await this.#orGiveUp(() => firstParcel(this.#held, steps, dialect.encodePush));
      if (parcel === false) return false;
      if (!parcel) break;
      if (!(await this.#send(parcel))) return false;
      steps = steps.filter(step => step.seq > parcel.seq);
    }
    const last = steps.at(-1);
    if (last) this.#place = last.seq;
    if (this.#place < found.seq) return true;
    return isTerminal(found.task.status.state) && this.#held.state === "live" ? this.#finish() : false;
  }

  /** What cannot be written down now never can be: a secret that is lost, or a bug. */
  async #orGiveUp<T>(write: () => T): Promise<T | false> {
    try {
      return write();
    } catch (error) {
      const { taskId } = this.#held;
      if (!(error instanceof Fault))
        this.#parts.log.error({ err: error, taskId }, "a delivery cannot be written");
      return this.#giveUp(error instanceof Fault ? error.message : "it cannot be written; the log tells why");
    }
  }

  /** A page of the log, and as much more as belongs to what was begun. */
  async #read(): Promise<readonly Step[]> {
    const { scope, taskId, until = 0 } = this.#held;
    const steps: Step[] = [];
    for (let after = this.#place; ; after = (steps.at(-1) as Step).seq) {
      const more = await this.#parts.store.log.read(scope, taskId, after, LIMITS.readMax);
      steps.push(...more);
      if (more.length === 0 || (more.at(-1) as Step).seq >= until) return steps;
    }
  }

  /** Whether one may go on. */
  async #send(parcel: Parcel): Promise<boolean> {
    const { failed } = this.#held;
    if (parcel.isWords && this.#held.until !== parcel.seq) {
      const begun: PushProgress = { cursor: this.#place, state: "live", until: parcel.seq };
      if (!(await this.#record(failed ? { ...begun, failed } : begun, undefined))) return false;
    }
    const { wallTime, ticks, hosts } = this.#parts;
    const { config, key } = this.#held;
    const at = wallTime();
    const began = ticks();
    const letter = await this.#orGiveUp(() =>
      toLetter(this.#parts, config, parcel, { id: `${key}_${parcel.seq}`, at }),
    );
    if (!letter) return false;
    const posted = await post(this.#parts, letter, this.#stop);
    if (posted.kind === "stopped") return false;
    hosts.tell(hostOf(config), posted.status !== undefined);
    return this.#note(parcel, posted, at, Math.round(ticks() - began));
  }

  /** Puts on record what came of an attempt. */
  async #note(parcel: Parcel, posted: Posted, at: number, ms: number): Promise<boolean> {
    const { seq } = parcel;
    const { status, error, kind } = posted;
    if (kind === "gone") return this.#remove();
    const attempt = { at, seq, ms, ...(status !== undefined && { status }), ...(error && { error }) };
    if (kind === "taken") {
      const state = isTerminal(parcel.task.status.state) ? "done" : "live";
      this.#place = seq;
      return (await this.#record({ cursor: seq, state }, attempt)) && state === "live";
    }
    const failed = {
      count: (this.#held.failed?.count ?? 0) + 1,
      // A clock that was set back must not put off the end.
      since: Math.min(this.#held.failed?.since ?? at, at),
    };
    const nextAt = kind === "refused" ? undefined : nextTry(this.#parts, failed, posted.retryAfterMs);
    const until = parcel.isWords && { until: seq };
    if (nextAt === undefined) {
      this.#tell("a delivery to a webhook was given up", { error, attempts: failed.count });
      await this.#record({ cursor: this.#place, state: "dead", failed, ...until }, attempt);
    } else
      await this.#record(
        { cursor: this.#place, state: "live", failed, nextAt, ...until },
        { ...attempt, nextAt },
      );
    return false;
  }

  async #finish(): Promise<false> {
    await this.#record({ cursor: this.#place, state: "done" }, undefined);
    return false;
  }

  async #giveUp(error: string): Promise<false> {
    const { failed, until } = this.#held;
    const at = this.#parts.wallTime();
    this.#tell("a webhook was given up", { error });
    await this.#record(
      { cursor: this.#place, state: "dead", ...(failed && { failed }), ...(until && { until }) },
      { at, seq: this.#place, ms: 0, error },
    );
    return false;
  }

  async #remove(): Promise<false> {
    await this.#parts.store.deliveries.remove(this.#held);
    this.#tell("a webhook wants no more: its config is removed", { status: 410 });
    return false;
  }

  /** false: it was removed or replaced meanwhile. */
  async #record(
    progress: PushProgress,
    attempt: Parameters<Store["deliveries"]["record"]>[2],
  ): Promise<boolean> {
    const held = await this.#parts.store.deliveries.record(this.#held, progress, attempt);
    if (held) this.#held = held;
    return held !== null;
  }

  #tell(text: string, facts: object): void {
    const { taskId, config } = this.#held;
    this.#parts.log.warn({ taskId, config: config.id, host: hostOf(config), ...facts }, text);
  }
}
