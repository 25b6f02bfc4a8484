/** The output of `dev`: one line for each call and each run, and the exceptions of agents with file and line. */
import { AsyncLocalStorage } from "node:async_hooks";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Fault, Step, TaskId } from "../../model/index.ts";
import type {
  Agent,
  AgentEvent,
  CallObserver,
  ObservedCall,
  Observer,
  Operation,
  OperationResult,
  Run,
  Turn,
} from "../../ports/index.ts";
import type { Development } from "../../server/services.ts";
import { oneLine } from "../terminal/terminal.ts";

/** A call or a run that has ended. */
export interface Activity {
  readonly kind: "call" | "run";
  readonly agent: string;
  /** A call: its operation, dialect and transport. */
  readonly detail: string;
  readonly taskId: string | undefined;
  readonly outcome: string;
  readonly ms: number;
  /** What the agent threw. */
  readonly error?: unknown;
}

export interface DevelopmentParts {
  readonly cwd: string;
  /** Milliseconds for durations. */
  readonly ticks: () => number;
  onActivity(activity: Activity): void;
  /** An exception outside of every run. */
  onStray(error: unknown): void;
}

export interface AgentDevelopment extends Development {
  /** Reports the runs of an agent. */
  wrap(agent: Agent): Agent;
  /** An uncaught exception, such as a `throw` in a timer: it ends the run that started the timer. */
  onUncaught(error: unknown): void;
}

/** A run that is active. Timers and events that it starts belong to it. */
interface DevelopmentRun {
  readonly taskId: TaskId;
  error?: unknown;
  readonly stray: PromiseWithResolvers<never>;
}

export function createDevelopment(parts: DevelopmentParts): AgentDevelopment {
  const current = new AsyncLocalStorage<DevelopmentRun>();
  const runs = new Map<TaskId, DevelopmentRun>();
  return {
    observer: createCallObserver(parts),
    onFailure(run: Run, error: unknown): string {
      const active = runs.get(run.task.id);
      if (active) active.error ??= error;
      return describeException(error, parts.cwd);
    },
    wrap: agent => ({
      ...agent,
      runtime: { name: agent.runtime.name, run: turn => runReported(parts, current, runs, agent, turn) },
    }),
    onUncaught(error) {
      const run = current.getStore();
      if (run && runs.get(run.taskId) === run) run.stray.reject(error);
      else parts.onStray(error);
    },
  };
}

/** The agent's own output, until it ends or one of its timers throws. */
async function* runReported(
  parts: DevelopmentParts,
  current: AsyncLocalStorage<DevelopmentRun>,
  runs: Map<TaskId, DevelopmentRun>,
  agent: Agent,
  turn: Turn,
): AsyncGenerator<AgentEvent> {
  const startedAt = parts.ticks();
  const run: DevelopmentRun = { taskId: turn.task.id, stray: Promise.withResolvers<never>() };
  run.stray.promise.catch(() => undefined);
  runs.set(run.taskId, run);
  let outcome: string | undefined;
  let source: AsyncIterator<AgentEvent> | undefined;
  try {
    source = current.run(run, () => agent.runtime.run(turn)[Symbol.asyncIterator]());
    for (;;) {
      const next = current.run(run, () => (source as AsyncIterator<AgentEvent>).next());
      const { done, value } = await Promise.race([next, run.stray.promise]);
      if (done) break;
      if (value.type === "reply") outcome = "replied";
      if (value.type === "status" && value.state !== "working") outcome = value.state;
      yield value;
    }
    source = undefined;
    outcome ??= turn.signal.aborted ? "canceled" : "completed";
  } catch (error) {
    outcome ??= turn.signal.aborted ? "canceled" : "failed";
    if (outcome === "failed") run.error = error;
    throw error;
  } finally {
    runs.delete(run.taskId);
    source?.return?.()?.catch(() => undefined);
    const ended = outcome ?? (run.error === undefined ? "stopped" : "failed");
    parts.onActivity({
      kind: "run",
      agent: agent.name,
      detail: turn.attempt > 1 ? `attempt ${turn.attempt}` : "",
      taskId: run.taskId,
      outcome: ended,
      ms: parts.ticks() - startedAt,
      ...(run.error !== undefined && { error: run.error }),
    });
  }
}

const TRANSPORTS: Readonly<Record<string, string>> = {
  jsonrpc: "JSON-RPC",
  rest: "HTTP+JSON",
  grpc: "gRPC",
  mcp: "MCP",
};

const DIALECTS: Readonly<Record<string, string>> = {
  v1: "A2A 1.0",
  v03: "A2A 0.3",
  v02: "A2A 0.2",
  v01: "A2A 0.1",
};

const createCallObserver = (parts: DevelopmentParts): Observer => ({
  startCall: (call, dialect) => new ReportedCall(parts, call, dialect),
});

class ReportedCall implements CallObserver {
  readonly #parts: DevelopmentParts;
  readonly #startedAt: number;
  readonly #via: string;
  #operation: Operation | undefined;
  #taskId: TaskId | undefined;
  #outcome = "ok";
  #fault: Fault | undefined;

  constructor(parts: DevelopmentParts, call: ObservedCall, dialect: string) {
    this.#parts = parts;
    this.#startedAt = parts.ticks();
    this.#via = `${DIALECTS[dialect] ?? dialect} ${TRANSPORTS[call.transport] ?? call.transport}`;
  }

  onOperation(operation: Operation): Operation {
    this.#operation = operation;
    return operation;
  }

  onSteps(steps: readonly Step[]): void {
    this.#taskId ??= steps[0]?.taskId;
  }

  onResult(result: OperationResult): void {
    if (result.kind !== "task") return;
    this.#taskId = result.task.id;
    this.#outcome = result.task.status.state;
  }

  onFault(fault: Fault): void {
    this.#fault = fault;
    this.#outcome = fault.code;
  }

  onEnd(): void {
    const operation = this.#operation;
    // Every client reads the card before its calls.
    if (operation?.op === "card" && !this.#fault) return;
    this.#parts.onActivity({
      kind: "call",
      agent: operation?.agent ?? "",
      detail: [operation?.op ?? "refused", this.#via, this.#fault?.message].filter(Boolean).join(" "),
      taskId: this.#taskId ?? (operation && "taskId" in operation ? operation.taskId : undefined),
      outcome: this.#outcome,
      ms: this.#parts.ticks() - this.#startedAt,
    });
  }

  logFields(): object {
    return {};
  }

  headers(): undefined {
    return undefined;
  }
}

/** `TypeError: x is undefined (agents/hello.ts:3:9)` */
export function describeException(error: unknown, cwd: string): string {
  if (!(error instanceof Error)) return oneLine(`${String(error)} was thrown`);
  const [place] = listFrames(error, cwd);
  return oneLine(`${error.name}: ${error.message}${place === undefined ? "" : ` (${place})`}`);
}

/** `file:///a/b.ts?generation=2:3:9` at the end of a line of a stack, with or without parentheses. */
const FRAME = /(?:^|[\s(])(file:\/\/[^\s()]+?|\/[^\s()]+?)(?:\?[^\s():]*)?:(\d+):(\d+)\)?$/;
const FRAMES_MAX = 4;

/** The places in files of the user, innermost first: neither Node, nor packages, nor this server. */
export function listFrames(error: Error, cwd: string): readonly string[] {
  const frames: string[] = [];
  for (const line of (error.stack ?? "").split("\n")) {
    const [, location, row, column] = FRAME.exec(line) ?? [];
    if (location === undefined) continue;
    const path = location.startsWith("file:") ? fileURLToPath(location) : location;
    if (/[\\/]node_modules[\\/]/.test(path) || path.startsWith(OWN_FOLDER)) continue;
    const near = relative(cwd, path);
    frames.push(`${near.startsWith("..") ? path : near}:${row}:${column}`);
    if (frames.length === FRAMES_MAX) break;
  }
  return frames;
}

const OWN_FOLDER = fileURLToPath(new URL("../../", import.meta.url));
