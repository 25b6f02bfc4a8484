import { Fault, LIMITS, type Message, type TaskEvent } from "../model/index.ts";
import { type AgentRuntime, type Bus, type Log, type Run, runTopic, type Store } from "../ports.ts";
import { BadAgentEvent, toTaskEvent } from "./events.ts";
import { createTurn } from "./turn.ts";

export interface DriveParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly log: Log;
  readonly newId: () => string;
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
  const { store, log } = parts;
  const taskId = run.task.id;
  const expected = { run };
  const pumped = Promise.withResolvers<void>();
  const deafen = parts.bus.listen(runTopic(taskId), look);
  let controller: AbortController | undefined;
  let stopped: Stop | undefined;
  /** The turn has its end on record, or on the way there. */
  let settled = false;
  /** The store refused what the run said: it was fenced off, or a cancel came first. */
  let refused = false;
  let over = false;
  let unwritten = 0;
  let written: Promise<void> = Promise.resolve();
  let artifactIds: Set<string> | undefined;

  function stop(why: Stop): void {
    if (stopped || over) return;
    stopped = why;
    controller?.abort(new Error(`the run was ${why === "shutdown" ? "stopped" : why}`));
    // A lost run has nothing to wait for: its words are refused anyway.
    setTimeout(pumped.resolve, why === "lost" ? 0 : parts.cancelGraceMs).unref();
  }

  /** Somebody rang: there may be a cancel. */
  function look(): void {
    store.tasks.get(run.scope, taskId).then(
      found => found?.task.cancel && stop("canceled"),
      error => log.error({ taskId, err: error }, "a run could not look at its task"),
    );
  }

  function signal(): AbortSignal {
    controller ??= new AbortController();
    if (stopped) controller.abort();
    return controller.signal;
  }

  /** Records without waiting: all that one turn of the event loop says is one commit. */
  function record(event: TaskEvent): Promise<void> {
    const done = store.log.append(run.scope, taskId, [event], expected);
    if (done !== written) {
      written = done;
      unwritten = 0;
      done.catch(lose);
    }
    unwritten += 1;
    return done;
  }

  function lose(error: unknown): void {
    const fault = error instanceof Fault ? error : undefined;
    refused ||= fault?.code === "conflict";
    if (fault?.code !== "conflict")
      log.error({ taskId, err: fault?.cause ?? error }, "what a run said could not be recorded");
    stop("lost");
  }

  async function pump(): Promise<void> {
    const turn = createTurn({ run, store, log, newId: parts.newId, signal });
    const agent = runtime.run(turn)[Symbol.asyncIterator]();
    let ended = false;
    try {
      while (!settled && !over) {
        const said = await agent.next();
        ended = said.done === true;
        if (said.done || over) return;
        const event = toTaskEvent(said.value);
        if (event.type === "artifact" && !event.append) countArtifact(event.artifact.artifactId);
        const done = record(event);
        settled = settles(event);
        if (unwritten >= LIMITS.unwrittenEventsMax) await done;
      }
    } finally {
      // Its clean-up is its own affair: the turn is over, and nobody waits for it.
      if (!ended) agent.return?.()?.catch(() => {});
    }
  }

  function countArtifact(artifactId: string): void {
    artifactIds ??= new Set(run.task.artifacts.map(one => one.artifactId));
    artifactIds.add(artifactId);
    if (artifactIds.size > LIMITS.artifactsMax)
      throw new BadAgentEvent(`a task has at most ${LIMITS.artifactsMax} artifacts`);
  }

  async function attempt(): Promise<void> {
    if (run.task.cancel) return void (stopped = "canceled");
    if (run.task.crashes >= parts.attemptsMax) {
      const words = `The work was begun ${run.task.crashes} times and ended each time without a word`;
      return conclude({ type: "status", state: "failed", message: apology(words) });
    }
    pump().then(pumped.resolve, pumped.reject);
    try {
      await pumped.promise;
    } catch (error) {
      if (!stopped) fail(error);
    }
  }

  function fail(error: unknown): void {
    const ref = parts.newId().slice(-12);
    log.error({ taskId, agent: run.task.agent, ref, err: error }, "an agent failed");
    const words = `The agent failed. Its operator finds the reason in the log under ${ref}.`;
    conclude({ type: "status", state: "failed", message: apology(words) });
  }

  function apology(text: string): Message {
    const { contextId } = run.task;
    return { messageId: parts.newId(), role: "agent", parts: [{ kind: "text", text }], taskId, contextId };
  }

  function conclude(event: TaskEvent): void {
    settled = true;
    record(event);
  }

  async function finish(): Promise<void> {
    if (stopped === "shutdown" && !settled) return store.runs.release(run);
    if (stopped !== "lost" && !settled)
      conclude({ type: "status", state: stopped === "canceled" ? "canceled" : "completed" });
    try {
      await written;
    } catch {
      // Said by `lose` already.
    }
    // A cancel that was recorded in the meantime overrules any other end.
    if (refused && (await isCanceling())) await record({ type: "status", state: "canceled" });
  }

  async function isCanceling(): Promise<boolean> {
    const found = await store.tasks.get(run.scope, taskId);
    return found?.task.cancel !== undefined && found.task.attempt === run.attempt;
  }

  async function go(): Promise<Driven> {
    try {
      await attempt();
      await finish();
    } catch (error) {
      log.error({ taskId, err: error }, "a run ended in disorder");
    } finally {
      over = true;
      deafen();
    }
    return driven;
  }

  const driven: { run: Run; stop: Driven["stop"]; over: Promise<Driven> } = {
    run,
    stop,
    over: undefined as never,
  };
  driven.over = go();
  return driven;
}

function settles(event: TaskEvent): boolean {
  return event.type === "reply" || (event.type === "status" && event.state !== "working");
}
