import {
  causeOf,
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
  type AppendCondition,
  type Log,
  type Run,
  RunInterrupted,
  runTopic,
} from "../ports/index.ts";
import type { ActiveRun, RunLease } from "./active-run.ts";
import { describeFailure, toFailed, toInterrupted } from "./end-events.ts";
import { createEndOfTurn, type EndOfTurn } from "./end-of-turn.ts";
import { IncomingMessages } from "./incoming.ts";
import { BadAgentEvent, contentSize, toStepEvent, toTaskEvent } from "./output-check.ts";
import { type PastAttempts, readPastAttempts } from "./replay/past-attempts.ts";
import { createRestart } from "./replay/recorded-output.ts";
import { ReplayMismatch } from "./replay/recorded-steps.ts";
import {
  type EndReason,
  RUN_STATES,
  type RunCell,
  type RunInput,
  type RunState,
  type StopReason,
  toStopError,
} from "./run-states.ts";
import { type RunExecutorParts, RunTurn, runLog, type TurnHost } from "./turn.ts";

/**
 * Runs one turn of an agent and records its events. Connections of callers do not matter here: only the log does. No async
 * function waits for the agent, which may be idle for hours: callbacks handle its events. `run-states.ts` has the states.
 * `onOver` is called when the run has ended.
 */
export class RunExecutor implements ActiveRun, TurnHost {
  readonly run: Run;
  readonly #parts: RunExecutorParts;
  readonly #agent: Agent;
  readonly #onOver: (run: ActiveRun) => void;
  readonly #taskId: TaskId;
  readonly #topic: string;
  readonly #condition: { readonly run: Run };
  readonly #recorded: Promise<void> | undefined;
  #state: RunState = "running";
  /** The row of `#state`. */
  #row = RUN_STATES.running;
  #stopReason: StopReason | undefined;
  /** No other run can have begun before this time, in ticks. */
  #leasedUntil: number;
  #source: AsyncIterator<AgentEvent> | undefined;
  #controller: AbortController | undefined;
  /** Why the store refused an event. */
  #refusal: Fault["code"] | undefined;
  #uncommittedEvents = 0;
  #uncommittedBytes = 0;
  #lastAppend: Promise<void> | undefined;
  #artifactIds: Set<string> | undefined;
  /** In an attempt that is not the first: the event to record; null: none, it was recorded before. */
  #revise: ((event: TaskEvent) => TaskEvent | null) | undefined;
  #past: PastAttempts | undefined;
  #stepBytes = 0;
  #incoming: IncomingMessages | undefined;
  readonly #endOfTurn: EndOfTurn | undefined;

  constructor(
    parts: RunExecutorParts,
    run: Run,
    agent: Agent,
    { claimedAt, recorded }: RunLease,
    onOver: (run: ActiveRun) => void,
  ) {
    this.run = run;
    this.#parts = parts;
    this.#agent = agent;
    this.#onOver = onOver;
    this.#taskId = run.task.id;
    this.#condition = { run };
    this.#leasedUntil = claimedAt + parts.leaseMs;
    this.#recorded = recorded;
    recorded?.catch(() => this.stop("lost"));
    this.#endOfTurn = createEndOfTurn(agent.policy, run.task);
    this.#topic = runTopic(this.#taskId);
    parts.bus.subscribe(this.#topic, this);
    this.#begin();
  }

  get #log(): Log {
    return runLog(this.#parts.log, this.run);
  }

  stop(reason: StopReason): void {
    if (this.#input(reason) === null || this.#stopReason) return;
    this.#stopReason = reason;
    this.#controller?.abort(toStopError(reason));
    this.#past?.close(toStopError(reason));
    this.#incoming?.end();
    // A lost run has nothing to wait for: its events are refused anyway.
    setTimeout(() => this.#input("timeout"), reason === "lost" ? 0 : this.#parts.cancelGraceMs).unref();
  }

  /** There may be a cancel, or a message for the run. */
  wake(): void {
    this.#parts.store.tasks.get(this.run.scope, this.#taskId).then(
      found => {
        if (found?.task.cancel) this.stop("canceled");
        this.#incoming?.update(found?.task.incoming);
      },
      error => this.#log.error({ err: error }, "a run could not read its task"),
    );
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#stopReason && !this.#controller.signal.aborted)
      this.#controller.abort(toStopError(this.#stopReason));
    return this.#controller.signal;
  }

  get incoming(): AsyncIterable<Message> {
    if (!this.#incoming) {
      this.#incoming = new IncomingMessages();
      if (this.#stopReason || this.#state === "over") this.#incoming.end();
      this.wake();
    }
    return this.#incoming;
  }

  async renew(): Promise<boolean> {
    const at = this.#parts.ticks();
    // Before its commit there is no lease to renew.
    await this.#recorded?.catch(() => {});
    const isHeld = await this.#parts.store.runs.renew(this.run);
    if (isHeld) this.#leasedUntil = at + this.#parts.leaseMs;
    else this.stop("lost");
    return isHeld;
  }

  /**
   * A step that is not on record is executed next. In a process that was suspended for longer than its lease, another run
   * may have executed it already: the lease is renewed first.
   */
  async findStep(key: StepKey): Promise<StepRecord | null> {
    const known = this.#past ? await this.#past.findStep(key) : null;
    if (known || this.#parts.ticks() < this.#leasedUntil) return known;
    const isHeld = await this.renew().catch(error => {
      this.#onRefused(error);
      return false;
    });
    if (!isHeld) throw toStopError("lost");
    return null;
  }

  async recordStep(step: StepRecord): Promise<void> {
    if (this.#state === "settled" || this.#state === "over")
      throw new Error("the run is over: no step is recorded any more");
    const { event, bytes } = toStepEvent(step);
    if (this.#stepBytes + bytes > LIMITS.stepsBytesMax)
      throw new BadAgentEvent(
        `the results of the steps of one turn have at most ${LIMITS.stepsBytesMax} bytes: store large ones elsewhere`,
      );
    this.#stepBytes += bytes;
    await this.#record(event);
  }

  /** Looks up the transition; the cell tells whether the input was accepted. */
  #input(input: RunInput, error?: unknown): RunCell {
    const cell = this.#row[input];
    if (cell === "=" || cell === null) return cell;
    if (typeof cell === "string") this.#enter(cell);
    else this.#end(cell.end, error);
    return cell;
  }

  #enter(state: RunState): void {
    this.#state = state;
    this.#row = RUN_STATES[state];
  }

  /** An error in one run must not reach the loop that starts the others. */
  #begin(): void {
    try {
      const { task, afterCrash } = this.run;
      const { onCrash, attempts = this.#parts.attemptsMax } = this.#agent.policy;
      if (task.cancel) return this.#end("canceled");
      if (task.crashes >= attempts) {
        // Not `crashes`: a run that was interrupted right here has started no agent.
        const text = `The run was started ${attempts} times and was interrupted each time`;
        this.#record(toFailed(this.run, this.#parts.newId(), text));
        return this.#end("settled");
      }
      if (afterCrash && onCrash !== "resume") return this.#end("interrupted");
      const turn = new RunTurn(this.#parts, this.run, this);
      if (turn.attempt === 1) return this.#start(turn);
      this.#prepareReplay(turn.attempt)
        .then(() => this.#start(turn))
        .catch(this.#onThrow);
    } catch (error) {
      this.#onThrow(error);
    }
  }

  /** A turn with recorded steps is resumed; any other one restarts. */
  async #prepareReplay(attempt: number): Promise<void> {
    if (!this.run.task.noted) this.#revise = createRestart(this.run.task, attempt);
    else {
      this.#past = await readPastAttempts(this.#parts.store, this.run, attempt);
      this.#stepBytes = this.#past.stepBytes;
      this.#revise = this.#past.toNewOutput;
    }
  }

  #start(turn: RunTurn): void {
    if (this.#state !== "running") return void this.#input("returned");
    this.#source = this.#agent.runtime.run(turn)[Symbol.asyncIterator]();
    this.#next();
  }

  #next(): void {
    // Once for each event: most events leave the state as it is.
    if (this.#row.ready !== "=") this.#input("ready");
    if (this.#state === "over") this.#closeSource();
    else (this.#source as AsyncIterator<AgentEvent>).next().then(this.#onResult, this.#onThrow);
  }

  readonly #onResult = (result: IteratorResult<AgentEvent>): void => {
    if (result.done) this.#source = undefined;
    if (this.#state === "over") return this.#closeSource();
    try {
      if (result.done) {
        this.#recordLeftovers();
        return void this.#input("returned");
      }
      const output = toTaskEvent(result.value);
      this.#endOfTurn?.add(output);
      const event = this.#revise ? this.#revise(output) : output;
      const append = event && this.#recordOutput(event, result.value);
      if (append && this.#isBacklogFull(event)) append.then(() => this.#next(), this.#onThrow);
      else this.#next();
    } catch (error) {
      this.#onThrow(error);
    }
  };

  readonly #onThrow = (error: unknown): void => {
    this.#input(error instanceof RunInterrupted ? "broke" : "threw", error);
    this.#closeSource();
  };

  /** The run does not wait for the agent's clean-up. */
  #closeSource(): void {
    const source = this.#source;
    this.#source = undefined;
    try {
      source?.return?.()?.catch(() => {});
    } catch {
      // The output no longer counts, and neither does the error.
    }
  }

  #recordOutput(event: TaskEvent, output: AgentEvent): Promise<void> {
    if (event.type === "reply" || (event.type === "status" && event.state !== "working")) {
      this.#recordLeftovers();
      this.#input("final");
      return this.#record(event.type === "status" ? this.#withError(event, causeOf(output)) : event);
    }
    if (event.type === "artifact" && !event.append) this.#countArtifact(event.artifact.artifactId);
    return this.#record(event);
  }

  #countArtifact(artifactId: string): void {
    this.#artifactIds ??= new Set(this.run.task.artifacts.map(one => one.artifactId));
    if (this.#artifactIds.add(artifactId).size > LIMITS.artifactsMax)
      throw new BadAgentEvent(`a task has at most ${LIMITS.artifactsMax} artifacts`);
  }

  /** The agent has ended the turn: artifacts of earlier attempts that it did not emit again are corrected. */
  #recordLeftovers(): void {
    if (this.#stopReason) return;
    if (this.#past) for (const event of this.#past.finish()) this.#record(event);
    if (this.#endOfTurn) for (const event of this.#endOfTurn.closingEvents()) this.#record(event);
  }

  /**
   * Whether the agent must wait for the disk. Counted by events and not by commits: a refusal is a promise of its own, and
   * an agent that never pauses would continue without ever yielding to the event loop.
   */
  #isBacklogFull(event: TaskEvent): boolean {
    this.#uncommittedEvents += 1;
    this.#uncommittedBytes += contentSize(event);
    const { uncommittedEventsMax, uncommittedBytesMax } = LIMITS;
    if (this.#uncommittedEvents < uncommittedEventsMax && this.#uncommittedBytes < uncommittedBytesMax)
      return false;
    this.#uncommittedEvents = this.#uncommittedBytes = 0;
    return true;
  }

  #withError<T extends TaskEvent>(event: T, cause: unknown): T {
    return cause === undefined ? event : { ...event, error: this.#parts.toErrorRecord(cause) };
  }

  /** Records without waiting: all events of one turn of the event loop are one commit. */
  #record(event: TaskEvent, condition: AppendCondition = this.#condition): Promise<void> {
    const append = this.#parts.store.log.append(this.run.scope, this.#taskId, [event], condition);
    if (append !== this.#lastAppend) {
      this.#lastAppend = append;
      append.catch(error => this.#onRefused(error));
    }
    return append;
  }

  #onRefused(error: unknown): void {
    const fault = error instanceof Fault ? error : undefined;
    this.#refusal ??= fault?.code;
    if (fault?.code !== "conflict")
      this.#log.error({ err: fault?.cause ?? error }, "an event of a run could not be recorded");
    this.stop("lost");
  }

  /** The only way into the state `over`. */
  #end(reason: EndReason, error?: unknown): void {
    this.#enter("over");
    void this.#finish(reason, error);
  }

  async #finish(reason: EndReason, error: unknown): Promise<void> {
    try {
      if (reason === "interrupted" && this.#agent.policy.onCrash === "resume")
        await this.#parts.store.runs.release(this.run);
      else {
        this.#recordEnd(reason, error);
        await this.#correctRefused();
      }
    } catch (failure) {
      this.#log.error({ err: failure }, "the end of a run could not be recorded");
    }
    this.#past?.close(new Error("the run is over"));
    this.#incoming?.end();
    this.#parts.bus.unsubscribe(this.#topic, this);
    this.#onOver(this);
  }

  #recordEnd(reason: EndReason, error: unknown): void {
    const { onCrash } = this.#agent.policy;
    const message = reason === "completed" && this.#endOfTurn?.answer(this.run, this.#parts.newId());
    if (message) this.#record({ type: "status", state: "completed", message });
    else if (reason === "completed" || reason === "canceled") this.#record({ type: "status", state: reason });
    else if (reason === "failed") this.#record(this.#toFailure(error));
    else if (reason === "interrupted" && onCrash !== "resume")
      this.#record(toInterrupted(this.run, this.#parts.newId(), onCrash));
  }

  #toFailure(error: unknown): TaskEvent {
    const ref = this.#parts.newId().slice(-12);
    const err = this.#past?.mismatch ?? error;
    const shown = this.#parts.onFailure?.(this.run, err);
    if (shown === undefined) this.#log.error({ ref, err }, "an agent failed");
    const text = describeFailure(err instanceof ReplayMismatch, ref, shown);
    return this.#withError(toFailed(this.run, this.#parts.newId(), text), err ?? `${err} was thrown`);
  }

  /** Ends the task where the store refused its end: it was canceled concurrently, or has too many events. */
  async #correctRefused(): Promise<void> {
    try {
      await this.#lastAppend;
    } catch {
      // Logged by #onRefused.
    }
    const condition = { run: this.run, afterRefusal: true } as const;
    if (this.#refusal === "conflict" && (await this.#isCanceling()))
      await this.#record({ type: "status", state: "canceled" }, condition);
    if (this.#refusal === "too-large") {
      const text = `The agent exceeded the limit of ${LIMITS.eventsMax} events per task`;
      await this.#record(toFailed(this.run, this.#parts.newId(), text), condition);
    }
  }

  async #isCanceling(): Promise<boolean> {
    const found = await this.#parts.store.tasks.get(this.run.scope, this.#taskId);
    return found?.task.cancel !== undefined && found.task.attempt === this.run.attempt;
  }
}
