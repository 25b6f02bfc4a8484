import { Fault, LIMITS, type Message, type TaskEvent, type TaskId } from "../model/index.ts";
import { type AgentRuntime, type Bus, type Run, runTopic } from "../ports.ts";
import { BadAgentEvent, toTaskEvent, weightOf } from "./events.ts";
import { RunTurn, type TurnParts } from "./turn.ts";

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
}

/** Runs one turn of an agent and records what it says. Connections do not matter here: only the log does. */
export function drive(parts: DriveParts, run: Run, runtime: AgentRuntime): Driven {
  return new Drive(parts, run, runtime);
}

class Drive implements Driven {
  readonly run: Run;
  readonly over: Promise<Driven>;
  readonly #parts: DriveParts;
  readonly #runtime: AgentRuntime;
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

  constructor(parts: DriveParts, run: Run, runtime: AgentRuntime) {
    this.run = run;
    this.#parts = parts;
    this.#runtime = runtime;
    this.#taskId = run.task.id;
    this.#expected = { run };
    this.over = this.#go();
  }

  stop(why: Stop): void {
    if (this.#stopped || this.#over) return;
    this.#stopped = why;
    this.#controller?.abort(new Error(`the run was ${why === "shutdown" ? "stopped" : why}`));
    // A lost run has nothing to wait for: its words are refused anyway.
    setTimeout(this.#pumped.resolve, why === "lost" ? 0 : this.#parts.cancelGraceMs).unref();
  }

  async #go(): Promise<Driven> {
    const deafen = this.#parts.bus.listen(runTopic(this.#taskId), this.#look);
    try {
      if (this.#mayRun()) {
        this.#pump().then(this.#pumped.resolve, this.#pumped.reject);
        await this.#pumped.promise.catch(error => this.#stopped || this.#fail(error));
      }
      await this.#finish();
    } catch (error) {
      this.#parts.log.error({ taskId: this.#taskId, err: error }, "a run ended in disorder");
    } finally {
      this.#over = true;
      deafen();
    }
    return this;
  }

  /** Somebody rang: there may be a cancel. */
  readonly #look = (): void => {
    this.#parts.store.tasks.get(this.run.scope, this.#taskId).then(
      found => found?.task.cancel && this.stop("canceled"),
      error =>
        this.#parts.log.error({ taskId: this.#taskId, err: error }, "a run could not look at its task"),
    );
  };

  readonly #signal = (): AbortSignal => {
    this.#controller ??= new AbortController();
    if (this.#stopped) this.#controller.abort();
    return this.#controller.signal;
  };

  /** false: there is an end to record instead. */
  #mayRun(): boolean {
    const { cancel, crashes } = this.run.task;
    if (cancel) this.#stopped = "canceled";
    else if (crashes >= this.#parts.attemptsMax) {
      const words = `The work was begun ${crashes} times and ended each time without a word`;
      this.#conclude({ type: "status", state: "failed", message: this.#apology(words) });
    } else return true;
    return false;
  }

  async #pump(): Promise<void> {
    const turn = new RunTurn(this.#parts, this.run, this.#signal);
    const agent = this.#runtime.run(turn)[Symbol.asyncIterator]();
    let ended = false;
    try {
      while (!this.#settled && !this.#over && this.#stopped !== "lost") {
        const said = await agent.next();
        ended = said.done === true;
        if (said.done || this.#over) return;
        const event = this.#check(toTaskEvent(said.value));
        const done = this.#record(event);
        if (this.#isMuch(event)) await done;
      }
    } finally {
      // Its clean-up is its own affair: the turn is over, and nobody waits for it.
      if (!ended) agent.return?.()?.catch(() => {});
    }
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
      this.#parts.log.error({ taskId: this.#taskId, err: cause }, "what a run said could not be recorded");
    }
    this.stop("lost");
  };

  #fail(error: unknown): void {
    const ref = this.#parts.newId().slice(-12);
    const { agent } = this.run.task;
    this.#parts.log.error({ taskId: this.#taskId, agent, ref, err: error }, "an agent failed");
    const words = `The agent failed. Its operator finds the reason in the log under ${ref}.`;
    this.#conclude({ type: "status", state: "failed", message: this.#apology(words) });
  }

  #apology(text: string): Message {
    const { contextId, id: taskId } = this.run.task;
    const messageId = this.#parts.newId();
    return { messageId, role: "agent", parts: [{ kind: "text", text }], taskId, contextId };
  }

  #conclude(event: TaskEvent): void {
    this.#settled = true;
    this.#record(event);
  }

  async #finish(): Promise<void> {
    if (this.#stopped === "shutdown" && !this.#settled) return this.#parts.store.runs.release(this.run);
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
      const message = this.#apology(`The agent said more than a task can hold (${LIMITS.eventsMax} events)`);
      await this.#record({ type: "status", state: "failed", message });
    }
  }

  async #isCanceling(): Promise<boolean> {
    const found = await this.#parts.store.tasks.get(this.run.scope, this.#taskId);
    return found?.task.cancel !== undefined && found.task.attempt === this.run.attempt;
  }
}
