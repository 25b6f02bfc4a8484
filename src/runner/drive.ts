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
  readonly over: Promise<void>;
  /** Tells the agent to stop; after the grace it is no longer waited for. */
  stop(why: Stop): void;
}

/** Runs one turn of an agent and records what it says. Connections do not matter here: only the log does. */
export function drive(parts: DriveParts, run: Run, runtime: AgentRuntime): Driven {
  const { store, bus, log } = parts;
  const taskId = run.task.id;
  const expected = { run };
  const bell = bus.listen(runTopic(taskId));
  const cut = Promise.withResolvers<void>();
  let controller: AbortController | undefined;
  let stopped: Stop | undefined;
  let settled = false;
  let over = false;
  let refused = false;
  let unwritten = 0;
  let written: Promise<void> = Promise.resolve();

  function stop(why: Stop): void {
    if (stopped || over) return;
    stopped = why;
    controller?.abort(new Error(`the run was ${why === "shutdown" ? "stopped" : why}`));
    // A lost run has nothing to wait for: its words are refused anyway.
    setTimeout(cut.resolve, why === "lost" ? 0 : parts.cancelGraceMs).unref();
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
    refused ||= error instanceof Fault && error.code === "conflict";
    if (!refused && !over)
      log.error(
        { taskId, err: error instanceof Fault ? (error.cause ?? error) : error },
        "what a run said could not be recorded",
      );
    stop("lost");
  }

  async function pump(): Promise<void> {
    const turn = createTurn({ run, store, log, newId: parts.newId, signal });
    const agent = runtime.run(turn)[Symbol.asyncIterator]();
    for (;;) {
      const said = await agent.next();
      if (said.done || over) return;
      const event = toTaskEvent(said.value, run.task);
      checkRoom(event);
      const done = record(event);
      if (settles(event)) {
        settled = true;
        // Its clean-up is its own affair: the turn is over, and nobody waits for it.
        return void agent.return?.()?.catch(() => {});
      }
      if (unwritten >= LIMITS.unwrittenEventsMax) await done;
    }
  }

  const artifactIds = new Set(run.task.artifacts.map(one => one.artifactId));
  function checkRoom(event: TaskEvent): void {
    if (event.type !== "artifact") return;
    artifactIds.add(event.artifact.artifactId);
    if (artifactIds.size > LIMITS.artifactsMax)
      throw new BadAgentEvent(`a task has at most ${LIMITS.artifactsMax} artifacts`);
  }

  async function watch(): Promise<void> {
    for (;;) {
      await bell.rung();
      if (over) return;
      const found = await store.tasks.get(run.scope, taskId);
      if (found?.task.cancel) stop("canceled");
    }
  }

  async function attempt(): Promise<void> {
    if (run.task.cancel) return void (stopped = "canceled");
    if (run.task.crashes >= parts.attemptsMax) {
      const words = `The work was begun ${run.task.crashes} times and ended each time without a word`;
      return conclude({ type: "status", state: "failed", message: apology(words) });
    }
    try {
      await Promise.race([pump(), cut.promise]);
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
    if (stopped === "shutdown" && !settled) return store.runs.release(run).catch(() => {});
    if (stopped !== "lost" && !settled)
      conclude({ type: "status", state: stopped === "canceled" ? "canceled" : "completed" });
    await written.catch(() => {});
    // A cancel that was recorded in the meantime overrules any other end.
    if (refused && (await isCanceling())) await record({ type: "status", state: "canceled" }).catch(() => {});
  }

  async function isCanceling(): Promise<boolean> {
    const found = await store.tasks.get(run.scope, taskId);
    return found?.task.cancel !== undefined && found.task.attempt === run.attempt;
  }

  async function go(): Promise<void> {
    void watch();
    try {
      await attempt();
      await finish();
    } finally {
      over = true;
      bell.wake();
      bell.close();
    }
  }

  return { run, stop, over: go() };
}

function settles(event: TaskEvent): boolean {
  return event.type === "reply" || (event.type === "status" && event.state !== "working");
}
