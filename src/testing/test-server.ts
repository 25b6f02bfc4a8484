/** A server in the process of a test: no sockets, no files, no waiting, and it may crash. */
import { createHash } from "node:crypto";
import type { AgentDefinition } from "../agent/definition.ts";
import type { Seq, StepKey, TaskId } from "../model/index.ts";
import type { Fetch, Log } from "../ports/index.ts";
import type { ServerParts } from "../server/create-server.ts";
import { loadParts, type ServerOptions } from "../server/load-parts.ts";
import { createMemoryBackend } from "../store/memory/backend.ts";
import { CallerConnection, type CallerOptions, type TestContent, type TestSendOptions } from "./caller.ts";
import { type Cassette, createPlayer } from "./cassette.ts";
import { type CrashOptions, CrashPlan } from "./crashes.ts";
import { type Instance, startInstance } from "./instance.ts";
import { type TaskAccess, type TestEvent, TestTask, toTestEvents } from "./test-task.ts";
import { type TestClock, VirtualClock } from "./virtual-clock.ts";
import { type CrashPoint, WatchedRuns, type WatchedRunsParts } from "./watched-runs.ts";

export interface TestServerOptions {
  /** The time at the start, as a date or in epoch milliseconds; default: 2026-01-01T00:00:00Z. */
  readonly startAt?: string | number | undefined;
  /** Whether a sleep ends at once when no run does anything else; default: true. false: only `clock.advance` moves time. */
  readonly skipsTime?: boolean | undefined;
  /** Ids and random numbers follow from it: they are the same in every run of a test. */
  readonly seed?: string | undefined;
  /** Recorded answers: steps are not executed, their results are played back. */
  readonly cassette?: Cassette | undefined;
  /** A step that the cassette does not have fails (default), or is executed. */
  readonly missingSteps?: "fail" | "run" | undefined;
  /** In place of the network, for requests of agents to models and other agents; undefined: to the network. */
  readonly outbound?: WatchedRunsParts["outbound"];
  /** Default: `server.log` collects it. */
  readonly log?: Log | undefined;
}

export interface TestLogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly facts: object;
  readonly text: string;
}

/** Sends messages to one agent. */
export interface TestCaller {
  /** Sends a message, and waits until the task ends or waits for its caller. */
  send(content: TestContent, options?: TestSendOptions): Promise<TestTask>;
  /** Sends a message, and returns as soon as the task is recorded. */
  start(content: TestContent, options?: TestSendOptions): Promise<TestTask>;
  /** Sends a message, and reads the output as it comes, also over crashes. */
  stream(content: TestContent, options?: TestSendOptions): AsyncGenerator<TestEvent>;
  /** A whole conversation: sends the first content, and answers each question with the next one. */
  converse(script: readonly TestContent[], options?: TestSendOptions): Promise<TestTask>;
  /** A task by its id. */
  task(id: string, contextId?: string): Promise<TestTask>;
}

export interface TestServer extends TestCaller, AsyncDisposable {
  readonly clock: TestClock;
  /** The lines of the log. */
  readonly log: readonly TestLogLine[];
  /** Another caller: of another agent, in another dialect, with other headers. */
  caller(options: CallerOptions): TestCaller;
  /** Any request to the server, at http://localhost. */
  readonly fetch: Fetch;
  /** Kills the server, as SIGKILL does, and starts it again. */
  crash(): Promise<void>;
  /**
   * Does so when a run reaches this step, given by its name or as one of `steps` of an earlier task; resolves when it
   * has happened.
   */
  crashAt(step: string | StepKey, options?: CrashOptions): Promise<void>;
  close(): Promise<void>;
}

/** Options that differ from a server that runs for long. */
const DEFAULTS = { drainMs: 0, cancelGraceMs: 1_000, console: "off", metrics: false } as const;
const START = "2026-01-01T00:00:00Z";

/** `agents`: an agent, several, or a whole config. */
export async function createTestServer(
  agents: AgentDefinition | readonly AgentDefinition[] | ServerOptions,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const lines: TestLogLine[] = [];
  const config = toConfig(agents);
  if (config.store)
    throw new Error("A test server has a store of its own; dragoman/testing/contracts tests yours");
  const parts = await loadParts(
    // Leases need no clock where a crash is a restart.
    { ...DEFAULTS, ...config, data: ":memory:", leaseMs: 2 ** 31 - 1 },
    "createTestServer",
    options.log ?? collectLog(lines),
  );
  const server = new RestartableServer(parts, options);
  await server.start();
  return toTestServer(server, parts, lines);
}

function toConfig(agents: AgentDefinition | readonly AgentDefinition[] | ServerOptions): ServerOptions {
  if (Array.isArray(agents)) return { agents };
  return "run" in agents ? { agents: [agents] } : (agents as ServerOptions);
}

function collectLog(lines: TestLogLine[]): Log {
  const at =
    (level: TestLogLine["level"]) =>
    (facts: object, text: string): void =>
      void lines.push({ level, facts, text });
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function toTestServer(
  server: RestartableServer,
  parts: ServerParts,
  log: readonly TestLogLine[],
): TestServer {
  let callers = 0;
  const createCaller = (options: CallerOptions): TestCaller => {
    const prefix = `caller-${++callers}`;
    const agent = options.agent ?? parts.defaultAgent;
    return toCaller({
      connection: new CallerConnection(server.fetch, () => prefix, { ...options, agent }),
      readEvents: server.readEvents,
      nextCommit: server.nextCommit,
    });
  };
  const close = (): Promise<void> => server.close();
  return {
    ...createCaller({}),
    clock: server.clock,
    log,
    caller: createCaller,
    fetch: server.fetch,
    crash: () => server.crash(),
    crashAt: (step, options = {}) => server.crashes.add(step, options),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function toCaller(access: TaskAccess): TestCaller {
  const { connection } = access;
  const send: TestCaller["send"] = async (content, options = {}) =>
    new TestTask(access, await connection.send(content, options));
  return {
    send,
    async converse([first = "", ...answers], options) {
      let task = await send(first, options);
      for (const [given, answer] of answers.entries()) {
        if (!isWaiting(task))
          throw new Error(`The task is ${task.state} after ${given} of ${answers.length} answers`);
        task = await task.answer(answer);
      }
      return task;
    },
    start: async (content, options = {}) => new TestTask(access, await connection.start(content, options)),
    stream: (content, options = {}) => toTestEvents(connection.stream(content, options)),
    task: async (id, contextId = "") =>
      new TestTask(access, { task: await connection.get(id, contextId), reply: undefined }),
  };
}

const isWaiting = ({ state }: TestTask): boolean => state === "input-required" || state === "auth-required";

/** A server that is started again after each crash, over the same data. */
class RestartableServer {
  readonly clock: VirtualClock;
  readonly crashes = new CrashPlan();
  readonly #parts: ServerParts;
  readonly #options: TestServerOptions;
  readonly #backend = createMemoryBackend();
  readonly #randomHex: (bytes: number) => string;
  readonly #all: Instance[] = [];
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
  #current: Promise<Instance> | undefined;
  #runs: WatchedRuns | undefined;

  constructor(parts: ServerParts, options: TestServerOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#randomHex = createSeededHex(options.seed ?? "dragoman");
    const startAt = new Date(options.startAt ?? START).getTime();
    const activity = () => this.#runs ?? { stepsRunning: 0, wakeTimes: [] };
    this.clock = new VirtualClock({ startAt, skips: options.skipsTime ?? true, activity });
  }

  start(): Promise<Instance> {
    const { cassette, missingSteps = "fail", outbound } = this.#options;
    const runs = new WatchedRuns({
      onStep: (step, point) => this.#onStep(runs, step, point),
      onChange: this.clock.skip,
      wallTime: this.clock.wallTime,
      cassette: cassette && createPlayer(cassette, missingSteps),
      outbound,
    });
    this.#runs = runs;
    this.#current = startInstance({
      server: this.#parts,
      backend: this.#backend,
      clock: this.clock,
      randomHex: this.#randomHex,
      runs,
      onCommitted: this.#onCommitted,
    }).then(instance => {
      this.#all.push(instance);
      return instance;
    });
    return this.#current;
  }

  async crash(): Promise<void> {
    (await this.#current)?.kill();
    await this.start();
  }

  /** The step does not go on: what it waits for never comes. */
  #onStep(runs: WatchedRuns, step: StepKey, point: CrashPoint): boolean {
    if (runs !== this.#runs || !this.crashes.take(step, point)) return false;
    // At once: nothing may be committed after this point.
    runs.kill();
    this.#all.at(-1)?.kill();
    void this.start();
    return true;
  }

  readonly fetch: Fetch = async (url, init) => (await (this.#current as Promise<Instance>)).fetch(url, init);

  readonly readEvents: TaskAccess["readEvents"] = taskId =>
    this.#backend
      .read(taskId as TaskId, 0 as Seq, Number.MAX_SAFE_INTEGER, null)
      .flatMap(({ seq, at, event }) => (event ? [{ seq, at, event }] : []));

  readonly nextCommit = (taskId: string): Promise<void> => {
    const waiting = this.#waiting.get(taskId) ?? Promise.withResolvers<void>();
    this.#waiting.set(taskId, waiting);
    return waiting.promise;
  };

  readonly #onCommitted = (taskId: TaskId): void => {
    this.#waiting.get(taskId)?.resolve();
    this.#waiting.delete(taskId);
  };

  async close(): Promise<void> {
    await this.#current;
    for (const instance of this.#all) await instance.close();
  }
}

/** The same bytes in every run of a test. */
function createSeededHex(seed: string): (bytes: number) => string {
  let count = 0;
  return bytes => {
    let hex = "";
    while (hex.length < 2 * bytes) hex += createHash("sha256").update(`${seed} ${++count}`).digest("hex");
    return hex.slice(0, 2 * bytes);
  };
}
