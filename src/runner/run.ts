import type { Wakeable } from "../lib/latch.ts";
import {
  causeOf,
  type ErrorRecord,
  Fault,
  LIMITS,
  type Message,
  type StepKey,
  type StepRecord,
  type TaskEvent,
  type TaskId,
} from "../model/index.ts";
import {
  type Agent,
  type AgentEvent,
  type Bus,
  type Expected,
  type Log,
  type Run,
  runTopic,
} from "../ports/index.ts";
import { createEndings, type Endings } from "./end-events.ts";
import { Incoming } from "./incoming.ts";
import { BadAgentEvent, toNoted, toTaskEvent, weightOf } from "./output-check.ts";
import { Mismatch } from "./replay/notes.ts";
import { type Past, readPast } from "./replay/past-attempts.ts";
import { createAnew } from "./replay/replayed-output.ts";
import { RunTurn, runLog, type TurnHost, type TurnParts } from "./turn.ts";

export interface DriveParts extends TurnParts {
  readonly bus: Bus;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  readonly leaseMs: number;
  readonly cancelGraceMs: number;
  readonly attemptsMax: number;
  /** What is kept of an error. */
  readonly toErrorRecord: (error: unknown) => ErrorRecord;
}

/** Why a run is told to stop. */
type Stop = "canceled" | "lost" | "shutdown";

/** A run under way. */
export interface Driven extends Wakeable {
  readonly run: Run;
  /** Extends the lease; false: the run has lost it, and is told to stop. */
  renew(): Promise<boolean>;
  /** Tells the agent to stop; after the grace it is no longer waited for. */
  stop(why: Stop): void;
}

/** What an agent threw. */
type Broken = { readonly error: unknown };

/**
 * Runs one turn of an agent and records what it says. Connections do not matter here: only the log does. No function of it
 * waits for the agent, which may be silent for hours: it is called when something is said. `claimedAt`: when the lease began,
 * at the latest, in ticks. `onOver` is called when nothing of the run is left.
 */
export class Drive implements Driven, TurnHost {
  readonly run: Run;
  readonly #parts: DriveParts;
  readonly #agent: Agent;
  readonly #onOver: (driven: Driven) => void;
  readonly #taskId: TaskId;
  /** Where a cancel or a message for this run is announced. */
  readonly #topic: string;
  readonly #expected: { readonly run: Run };
  /** No other run can have begun before this time, in ticks. */
  #leasedUntil: number;
  /** Where the agent's words come from. */
  #source: AsyncIterator<AgentEvent> | undefined;
  /** The agent is no longer heard. */
  #left = false;
  #controller: AbortController | undefined;
  #stopped: Stop | undefined;
  /** The turn has its end on record, or on the way there. */
  #settled = false;
  /** Why the store did not take what the run said. */
  #refusal: Fault["code"] | undefined;
  #over = false;
  #unwritten = 0;
  #unwrittenBytes = 0;
  #written: Promise<void> | undefined;
  #artifactIds: Set<string> | undefined;
  /** Of an attempt that is not the first: what is recorded of what it says; null: nothing. */
  #revise: ((event: TaskEvent) => TaskEvent | null) | undefined;
  #past: Past | undefined;
  #notedBytes = 0;
  #incoming: Incoming | undefined;

  constructor(
    parts: DriveParts,
    run: Run,
    agent: Agent,
    claimedAt: number,
    onOver: (driven: Driven) => void,
  ) {
    this.run = run;
    this.#parts = parts;
    this.#agent = agent;
    this.#onOver = onOver;
    this.#taskId = run.task.id;
    this.#expected = { run };
    this.#leasedUntil = claimedAt + parts.leaseMs;
    this.#topic = runTopic(this.#taskId);
    parts.bus.subscribe(this.#topic, this);
    this.#begin();
  }

  get #endings(): Endings {
    return createEndings(this.run, this.#parts.newId);
  }

  get #log(): Log {
    return runLog(this.#parts.log, this.run);
  }

  stop(why: Stop): void {
    if (this.#stopped || this.#over) return;
    this.#stopped = why;
    this.#controller?.abort(stopped(why));
    this.#past?.close(stopped(why));
    this.#incoming?.end();
    // A lost run has nothing to wait for: its words are refused anyway.
    setTimeout(() => this.#leave(), why === "lost" ? 0 : this.#parts.cancelGraceMs).unref();
  }

  /** There may be a cancel, or a message for it. */
  wake(): void {
    this.#parts.store.tasks.get(this.run.scope, this.#taskId).then(
      found => {
        if (found?.task.cancel) this.stop("canceled");
        this.#incoming?.hear(found?.task.incoming);
      },
      error => this.#log.error({ err: error }, "a run could not look at its task"),
    );
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#stopped && !this.#controller.signal.aborted) this.#controller.abort(stopped(this.#stopped));
    return this.#controller.signal;
  }

  get incoming(): AsyncIterable<Message> {
    if (!this.#incoming) {
      this.#incoming = new Incoming();
      if (this.#stopped || this.#over) this.#incoming.end();
      this.wake();
    }
    return this.#incoming;
  }

  async renew(): Promise<boolean> {
    const at = this.#parts.ticks();
    const held = await this.#parts.store.runs.renew(this.run);
    if (held) this.#leasedUntil = at + this.#parts.leaseMs;
    else this.stop("lost");
    return held;
  }

  /**
   * What is not on record is done next. In a process that stood still for longer than its lease, another run may have done
   * it already: the store is asked first.
   */
  async recall(place: StepKey): Promise<StepRecord | null> {
    const known = this.#past ? await this.#past.recall(place) : null;
    if (known || this.#parts.ticks() < this.#leasedUntil) return known;
    const held = await this.renew().catch(error => {
      this.#lose(error);
      return false;
    });
    if (!held) throw stopped("lost");
    return null;
  }

  async note(note: StepRecord): Promise<void> {
    if (this.#settled || this.#over) throw new Error("the run is over: nothing is noted any more");
    const { event, bytes } = toNoted(note);
    if (this.#notedBytes + bytes > LIMITS.notesBytesMax)
      throw new BadAgentEvent(
        `the steps of one turn note at most ${LIMITS.notesBytesMax} bytes: keep large results elsewhere`,
      );
    this.#notedBytes += bytes;
    await this.#record(event);
  }

  /** false: there is an end to record instead. */
  #mayRun(): boolean {
    const { cancel, crashes } = this.run.task;
    const { onCrash, attempts = this.#parts.attemptsMax } = this.#agent.policy;
    if (cancel) this.#stopped = "canceled";
    else if (crashes >= attempts)
      this.#conclude(
        this.#endings.failed(`The work was begun ${crashes} times and ended each time without a word`),
      );
    else if (this.run.afterCrash && onCrash !== "resume") this.#conclude(this.#endings.interrupted(onCrash));
    else return true;
    return false;
  }

  /** Whatever is wrong with one run must not reach whoever begins the others. */
  #begin(): void {
    try {
      if (!this.#mayRun()) return this.#leave();
      const turn = new RunTurn(this.#parts, this.run, this);
      if (turn.attempt === 1) return this.#start(turn);
      this.#lookBack(turn.attempt)
        .then(() => this.#start(turn))
        .catch(this.#broke);
    } catch (error) {
      this.#broke(error);
    }
  }

  #start(turn: RunTurn): void {
    if (this.#stopped) return this.#leave();
    this.#source = this.#agent.runtime.run(turn)[Symbol.asyncIterator]();
    this.#ask(this.#source);
  }

  #ask(source: AsyncIterator<AgentEvent>): void {
    if (this.#settled || this.#left || this.#stopped === "lost") this.#hush();
    else source.next().then(this.#heard, this.#broke);
  }

  readonly #heard = (said: IteratorResult<AgentEvent>): void => {
    const source = this.#source as AsyncIterator<AgentEvent>;
    if (said.done) this.#source = undefined;
    if (this.#left) return this.#hush();
    try {
      if (said.done) {
        this.#catchUp();
        return this.#leave();
      }
      const event = this.#revise ? this.#revise(toTaskEvent(said.value)) : toTaskEvent(said.value);
      const done = event && this.#record(this.#check(event, said.value));
      if (done && this.#isMuch(event)) done.then(() => this.#ask(source), this.#broke);
      else this.#ask(source);
    } catch (error) {
      this.#broke(error);
    }
  };

  readonly #broke = (error: unknown): void => this.#hush({ error });

  /** Nothing more is wanted of the agent. Its clean-up is its own affair: nobody waits for it. */
  #hush(broken?: Broken): void {
    const source = this.#source;
    this.#source = undefined;
    this.#leave(broken);
    try {
      source?.return?.()?.catch(() => {});
    } catch {
      // As if it had said so later.
    }
  }

  /** Ends the run, once, for whatever reason comes first. */
  #leave(broken?: Broken): void {
    if (this.#left) return;
    this.#left = true;
    void this.#end(broken);
  }

  async #end(broken: Broken | undefined): Promise<void> {
    try {
      if (broken && !this.#stopped) this.#fail(broken.error);
      await this.#finish();
    } catch (error) {
      this.#log.error({ err: error }, "a run ended in disorder");
    }
    this.#over = true;
    this.#past?.close(new Error("the run is over"));
    this.#incoming?.end();
    this.#parts.bus.unsubscribe(this.#topic, this);
    this.#onOver(this);
  }

  /** A turn in which notes were made is resumed; any other one begins anew. */
  async #lookBack(attempt: number): Promise<void> {
    if (!this.run.task.noted) this.#revise = createAnew(this.run.task, attempt);
    else {
      this.#past = await readPast(this.#parts.store, this.run, attempt);
      this.#notedBytes = this.#past.notedBytes;
      this.#revise = this.#past.rest;
    }
  }

  /** The agent has come to an end of its own: what earlier attempts left over must not stay. */
  #catchUp(): void {
    if (!this.#past || this.#stopped) return;
    for (const event of this.#past.conclude()) this.#record(event);
  }

  /**
   * Whether it has said so much that it must wait for the disk. Counted by words and not by commits: a refusal is a
   * promise of its own, and an agent that never pauses would go on without ever giving the event loop a turn.
   */
  #isMuch(event: TaskEvent): boolean {
    this.#unwritten += 1;
    this.#unwrittenBytes += weightOf(event);
    if (this.#unwritten < LIMITS.unwrittenEventsMax && this.#unwrittenBytes < LIMITS.unwrittenBytesMax)
      return false;
    this.#unwritten = this.#unwrittenBytes = 0;
    return true;
  }

  #check(event: TaskEvent, said: AgentEvent): TaskEvent {
    this.#settled = event.type === "reply" || (event.type === "status" && event.state !== "working");
    if (this.#settled) this.#catchUp();
    if (this.#settled && event.type === "status") return this.#explained(event, causeOf(said));
    if (event.type !== "artifact" || event.append) return event;
    this.#artifactIds ??= new Set(this.run.task.artifacts.map(one => one.artifactId));
    this.#artifactIds.add(event.artifact.artifactId);
    if (this.#artifactIds.size <= LIMITS.artifactsMax) return event;
    throw new BadAgentEvent(`a task has at most ${LIMITS.artifactsMax} artifacts`);
  }

  /** With the error that led to it, if there was one. */
  #explained<T extends TaskEvent>(event: T, cause: unknown): T {
    return cause === undefined ? event : { ...event, error: this.#parts.toErrorRecord(cause) };
  }

  /** Records without waiting: all that one turn of the event loop says is one commit. */
  #record(event: TaskEvent, expected: Expected = this.#expected): Promise<void> {
    const done = this.#parts.store.log.append(this.run.scope, this.#taskId, [event], expected);
    if (done !== this.#written) {
      this.#written = done;
      done.catch(error => this.#lose(error));
    }
    return done;
  }

  #lose(error: unknown): void {
    const fault = error instanceof Fault ? error : undefined;
    this.#refusal ??= fault?.code;
    if (fault?.code !== "conflict") {
      const cause = fault?.cause ?? error;
      this.#log.error({ err: cause }, "what a run said could not be recorded");
    }
    this.stop("lost");
  }

  #fail(error: unknown): void {
    const ref = this.#parts.newId().slice(-12);
    const err = this.#past?.mismatch ?? error;
    this.#log.error({ ref, err }, "an agent failed");
    const what =
      err instanceof Mismatch
        ? "The work was cut off and cannot be resumed: the agent no longer does what it did before."
        : "The agent failed.";
    const broken = this.#endings.failed(`${what} Its operator finds the reason in the log under ${ref}.`);
    this.#conclude(this.#explained(broken, err ?? `${err} was thrown`));
  }

  #conclude(event: TaskEvent): void {
    this.#settled = true;
    this.#record(event);
  }

  async #finish(): Promise<void> {
    const { onCrash } = this.#agent.policy;
    if (this.#stopped === "shutdown" && !this.#settled) {
      if (onCrash === "resume") return this.#parts.store.runs.release(this.run);
      this.#conclude(this.#endings.interrupted(onCrash));
    }
    if (this.#stopped !== "lost" && !this.#settled)
      this.#conclude({ type: "status", state: this.#stopped === "canceled" ? "canceled" : "completed" });
    try {
      await this.#written;
    } catch {
      // Said by #lose already.
    }
    // A cancel that was recorded in the meantime overrules any other end.
    if (this.#refusal === "conflict" && (await this.#isCanceling()))
      await this.#record({ type: "status", state: "canceled" }, { run: this.run, afterRefusal: true });
    if (this.#refusal === "too-large") {
      const words = `The agent said more than a task can hold (${LIMITS.eventsMax} events)`;
      await this.#record(this.#endings.failed(words), { run: this.run, afterRefusal: true });
    }
  }

  async #isCanceling(): Promise<boolean> {
    const found = await this.#parts.store.tasks.get(this.run.scope, this.#taskId);
    return found?.task.cancel !== undefined && found.task.attempt === this.run.attempt;
  }
}

/** `code` tells programs why: who passes a task on passes a cancel on, but not the end of this server. */
const stopped = (why: Stop): Error =>
  Object.assign(new Error(`the run was ${why === "shutdown" ? "stopped" : why}`), { code: why });
