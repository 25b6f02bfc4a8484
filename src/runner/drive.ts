import {
  Fault,
  LIMITS,
  type Message,
  type Note,
  type NotePlace,
  type TaskEvent,
  type TaskId,
} from "../model/index.ts";
import { type Agent, type Bus, type Log, type Run, runTopic } from "../ports.ts";
import { BadAgentEvent, toNoted, toTaskEvent, weightOf } from "./events.ts";
import { Incoming } from "./incoming.ts";
import { Mismatch } from "./notes.ts";
import { type Past, readPast } from "./past.ts";
import { createAnew } from "./said.ts";
import { RunTurn, runLog, type TurnHost, type TurnParts } from "./turn.ts";

export interface DriveParts extends TurnParts {
  readonly bus: Bus;
  readonly cancelGraceMs: number;
  readonly attemptsMax: number;
}

/** Why a run is told to stop. */
type Stop = "canceled" | "lost" | "shutdown";

/** A run under way. */
export interface Driven {
  readonly run: Run;
  /** Resolves when nothing of the run is left; never rejects. */
  readonly over: Promise<Driven>;
  /** Tells the agent to stop; after the grace it is no longer waited for. */
  stop(why: Stop): void;
  /** There may be a cancel, or a message for it. */
  look(): void;
}

/** Runs one turn of an agent and records what it says. Connections do not matter here: only the log does. */
export function drive(parts: DriveParts, run: Run, agent: Agent): Driven {
  return new Drive(parts, run, agent);
}

class Drive implements Driven, TurnHost {
  readonly run: Run;
  readonly over: Promise<Driven>;
  readonly #parts: DriveParts;
  readonly #agent: Agent;
  readonly #taskId: TaskId;
  readonly #expected: { readonly run: Run };
  readonly #pumped = Promise.withResolvers<void>();
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

  constructor(parts: DriveParts, run: Run, agent: Agent) {
    this.run = run;
    this.#parts = parts;
    this.#agent = agent;
    this.#taskId = run.task.id;
    this.#expected = { run };
    this.over = this.#go();
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
    setTimeout(this.#pumped.resolve, why === "lost" ? 0 : this.#parts.cancelGraceMs).unref();
  }

  async #go(): Promise<Driven> {
    const deafen = this.#parts.bus.listen(runTopic(this.#taskId), this.look);
    try {
      if (this.#mayRun()) {
        this.#pump().then(this.#pumped.resolve, this.#pumped.reject);
        await this.#pumped.promise.catch(error => this.#stopped || this.#fail(error));
      }
      await this.#finish();
    } catch (error) {
      this.#log.error({ err: error }, "a run ended in disorder");
    } finally {
      this.#over = true;
      this.#past?.close(new Error("the run is over"));
      this.#incoming?.end();
      deafen();
    }
    return this;
  }

  readonly look = (): void => {
    this.#parts.store.tasks.get(this.run.scope, this.#taskId).then(
      found => {
        if (found?.task.cancel) this.stop("canceled");
        this.#incoming?.hear(found?.task.incoming);
      },
      error => this.#log.error({ err: error }, "a run could not look at its task"),
    );
  };

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#stopped && !this.#controller.signal.aborted) this.#controller.abort(stopped(this.#stopped));
    return this.#controller.signal;
  }

  get incoming(): AsyncIterable<Message> {
    if (!this.#incoming) {
      this.#incoming = new Incoming();
      if (this.#stopped || this.#over) this.#incoming.end();
      this.look();
    }
    return this.#incoming;
  }

  recall(place: NotePlace): Promise<Note | null> {
    return this.#past ? this.#past.recall(place) : Promise.resolve(null);
  }

  async note(note: Note): Promise<void> {
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
      this.#conclude(this.#broken(`The work was begun ${crashes} times and ended each time without a word`));
    else if (this.run.afterCrash && onCrash !== "resume") this.#conclude(this.#cutOff(onCrash));
    else return true;
    return false;
  }

  /** What becomes of work that is not begun again just like that. */
  #cutOff(onCrash: "fail" | "ask"): TaskEvent {
    if (onCrash === "fail")
      return this.#broken("The work was cut off, and this agent does not begin it again");
    const message = this.#words("The work may already have happened; run it again?");
    return { type: "status", state: "input-required", message, again: true };
  }

  async #pump(): Promise<void> {
    const turn = new RunTurn(this.#parts, this.run, this);
    if (turn.attempt > 1) await this.#lookBack(turn.attempt);
    if (this.#stopped) return;
    const agent = this.#agent.runtime.run(turn)[Symbol.asyncIterator]();
    let ended = false;
    try {
      while (!this.#settled && !this.#over && this.#stopped !== "lost") {
        const said = await agent.next();
        ended = said.done === true;
        if (this.#over) return;
        if (said.done) return this.#catchUp();
        const event = this.#revise ? this.#revise(toTaskEvent(said.value)) : toTaskEvent(said.value);
        if (event === null) continue;
        const done = this.#record(this.#check(event));
        if (this.#isMuch(event)) await done;
      }
    } finally {
      // Its clean-up is its own affair: the turn is over, and nobody waits for it.
      if (!ended) agent.return?.()?.catch(() => {});
    }
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

  #check(event: TaskEvent): TaskEvent {
    this.#settled = event.type === "reply" || (event.type === "status" && event.state !== "working");
    if (this.#settled) this.#catchUp();
    if (event.type !== "artifact" || event.append) return event;
    this.#artifactIds ??= new Set(this.run.task.artifacts.map(one => one.artifactId));
    this.#artifactIds.add(event.artifact.artifactId);
    if (this.#artifactIds.size <= LIMITS.artifactsMax) return event;
    throw new BadAgentEvent(`a task has at most ${LIMITS.artifactsMax} artifacts`);
  }

  /** Records without waiting: all that one turn of the event loop says is one commit. */
  #record(event: TaskEvent): Promise<void> {
    const done = this.#parts.store.log.append(this.run.scope, this.#taskId, [event], this.#expected);
    if (done !== this.#written) {
      this.#written = done;
      done.catch(this.#lose);
    }
    return done;
  }

  readonly #lose = (error: unknown): void => {
    const fault = error instanceof Fault ? error : undefined;
    this.#refusal ??= fault?.code;
    if (fault?.code !== "conflict") {
      const cause = fault?.cause ?? error;
      this.#log.error({ err: cause }, "what a run said could not be recorded");
    }
    this.stop("lost");
  };

  #fail(error: unknown): void {
    const ref = this.#parts.newId().slice(-12);
    const err = this.#past?.mismatch ?? error;
    this.#log.error({ ref, err }, "an agent failed");
    const what =
      err instanceof Mismatch
        ? "The work was cut off and cannot be resumed: the agent no longer does what it did before."
        : "The agent failed.";
    this.#conclude(this.#broken(`${what} Its operator finds the reason in the log under ${ref}.`));
  }

  /** The end of work that did not come to one by itself. */
  #broken(words: string): TaskEvent {
    return { type: "status", state: "failed", message: this.#words(words), broken: true };
  }

  #words(text: string): Message {
    const { contextId, id: taskId } = this.run.task;
    const messageId = this.#parts.newId();
    return { messageId, role: "agent", parts: [{ kind: "text", text }], taskId, contextId };
  }

  #conclude(event: TaskEvent): void {
    this.#settled = true;
    this.#record(event);
  }

  async #finish(): Promise<void> {
    const { onCrash } = this.#agent.policy;
    if (this.#stopped === "shutdown" && !this.#settled) {
      if (onCrash === "resume") return this.#parts.store.runs.release(this.run);
      this.#conclude(this.#cutOff(onCrash));
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
      await this.#record({ type: "status", state: "canceled" });
    if (this.#refusal === "too-large") {
      const words = `The agent said more than a task can hold (${LIMITS.eventsMax} events)`;
      await this.#record(this.#broken(words));
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
