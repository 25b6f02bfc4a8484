/** The commands of the streaming protocol. Every answer is HTTP 200, except for a broken envelope. */
import { defined, isObject, type Json, type JsonObject } from "../lib/json.ts";
import { Fault, type FaultCode } from "../model/index.ts";
import type { ThreadSnapshot } from "../ports/index.ts";
import { readStrings } from "../protocol/shared/fields.ts";
import { pick, readPage } from "./fields.ts";
import { PROTOCOL_MODES } from "./protocol-events.ts";
import type { ProtocolStreams } from "./protocol-stream.ts";
import { type ApiCall, type ApiReply, type ApiRoute, readBody } from "./route.ts";
import type { RunCreation } from "./run-create.ts";
import type { FoundRun, RunRecords } from "./run-records.ts";
import type { RunStreams } from "./run-stream.ts";
import { readBefore } from "./state-body.ts";
import type { FoundThread, ThreadRecords } from "./thread-records.ts";
import type { ThreadRuns } from "./thread-runs.ts";
import type { ThreadStates } from "./thread-state.ts";
import { requireThread } from "./threads.ts";

export interface ProtocolCommandParts {
  readonly threads: ThreadRecords;
  readonly states: ThreadStates;
  readonly runs: RunRecords;
  readonly creation: RunCreation;
  readonly streams: RunStreams;
  readonly protocol: ProtocolStreams;
  readonly threadRuns: ThreadRuns;
}

class CommandError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export function createProtocolRoutes(parts: ProtocolCommandParts): readonly ApiRoute[] {
  const { threads, states, runs, creation, streams, protocol } = parts;

  async function start(call: ApiCall, params: JsonObject): Promise<Json> {
    if (typeof params.assistant_id !== "string")
      throw new CommandError("invalid_argument", "run.start requires an assistant_id");
    const { assistant_id, input = null } = params;
    const isAnswer =
      input !== null && forkOf(params.config).checkpoint_id === undefined && (await isAsked(call));
    const given = isAnswer ? { command: toCommand(input, params) } : { input };
    return createRun(call, params, { assistant_id, ...given, if_not_exists: "create" });
  }

  /** Whether an interrupt of the thread waits for an answer. */
  async function isAsked(call: ApiCall): Promise<boolean> {
    const thread = await threads.find(call.scope, call.vars.thread_id as string);
    return (
      thread !== null && (await states.readState(call.scope, thread, undefined, false)).interrupts.length > 0
    );
  }

  async function createRun(call: ApiCall, params: JsonObject, body: JsonObject): Promise<{ run_id: string }> {
    const { config, metadata, multitaskStrategy } = params;
    const whole = {
      ...(isObject(config) && { config }),
      ...(isObject(metadata) && { metadata }),
      ...(typeof multitaskStrategy === "string" && { multitask_strategy: multitaskStrategy }),
      ...forkOf(config),
      ...body,
      stream_mode: PROTOCOL_MODES,
      stream_subgraphs: true,
    } as unknown as JsonObject;
    const { run } = await creation.create(call, call.vars.thread_id as string, whole);
    parts.threadRuns.notify(run.thread.id);
    return { run_id: run.id };
  }

  /** An interrupt is visible before its run has ended: the answer waits for the end. */
  async function respond(call: ApiCall, params: JsonObject): Promise<Json> {
    const resume = readResponses(params);
    const thread = await requireThread(threads, call, "create_run");
    const { assistant_id: assistant } = thread.metadata;
    const [newest] = await runs.list(call.scope, thread);
    if (!newest || typeof assistant !== "string")
      throw new CommandError("no_such_run", "No interrupted run is bound to this thread");
    await streams.waitForEnd(call, newest as FoundRun);
    const { interrupts } = await states.readState(call.scope, thread, undefined, false);
    const known = new Set(interrupts.map(one => String(one.id)));
    const unknown = Object.keys(resume).find(id => !known.has(id));
    if (unknown !== undefined)
      throw new CommandError("no_such_interrupt", `No interrupt ${unknown} waits for an answer`);
    const isGraph = newest.agent.graph !== undefined;
    const answer = isGraph ? resume : (Object.values(resume)[0] as Json);
    return createRun(call, params, { assistant_id: assistant, command: toCommand(answer, params) });
  }

  async function getState(call: ApiCall, params: JsonObject): Promise<Json> {
    const thread = await requireThread(threads, call, "read");
    const keys = readStrings(params, "keys", "");
    const { values, checkpoint } = await states.readState(call.scope, thread, undefined, false);
    const { checkpoint_id: id, checkpoint_ns: ns = "" } = checkpoint;
    return {
      values: pick(values, keys) as JsonObject,
      ...(typeof id === "string" && { checkpoint: { id, ns } }),
    };
  }

  async function listCheckpoints(call: ApiCall, params: JsonObject): Promise<Json> {
    const thread = await requireThread(threads, call, "read");
    const { limit } = readPage(params);
    const before = readBefore(params.before);
    const found = await states.readHistory(call.scope, thread, { limit, ...(before && { before }) });
    return { checkpoints: found.map(toSummary) };
  }

  /** A new run from a checkpoint. */
  async function fork(call: ApiCall, params: JsonObject): Promise<Json> {
    const thread = await requireThread(threads, call, "create_run");
    const { assistant_id: assistant } = thread.metadata;
    const { checkpoint_id: id, input = null } = params;
    if (typeof id !== "string")
      throw new CommandError("invalid_argument", "state.fork requires a checkpoint_id");
    if (typeof assistant !== "string") throw new CommandError("no_such_run", "The thread has no run");
    await states.readState(call.scope, thread, { checkpoint_id: id }, false).catch(error => {
      const isMissing = error instanceof Fault && error.code === "task-not-found";
      throw isMissing ? new CommandError("no_such_checkpoint", `No checkpoint ${id}`) : error;
    });
    const { run_id } = await createRun(call, params, { assistant_id: assistant, input, checkpoint_id: id });
    return { run_id, thread_id: thread.id };
  }

  /** The run and what has run in it, by the events of its log so far. */
  async function getTree(call: ApiCall): Promise<Json> {
    const thread = await requireThread(threads, call, "read");
    const [newest] = await runs.list(call.scope, thread);
    if (!newest) throw new CommandError("no_such_run", "The thread has no run");
    const nodes = new Map<string, JsonObject>();
    for await (const { method, namespace, data } of protocol.readEvents(call, newest)) {
      if (method !== "lifecycle" || !isObject(data)) continue;
      const { event: status = "", graph_name = "" } = data;
      nodes.set(namespace.join("|"), { namespace, status, graph_name });
    }
    return { tree: toTree(nodes, "") };
  }

  const COMMANDS: Readonly<Record<string, (call: ApiCall, params: JsonObject) => Promise<Json>>> = {
    "run.start": start,
    "input.respond": respond,
    "state.get": getState,
    "state.listCheckpoints": listCheckpoints,
    "state.fork": fork,
    "agent.getTree": getTree,
  };

  async function command(call: ApiCall): Promise<ApiReply> {
    const { id, method, params } = readBody(call);
    if (typeof id !== "number" || typeof method !== "string")
      throw new Fault("parse", "A command has an integer id and a method");
    const execute = Object.hasOwn(COMMANDS, method) ? COMMANDS[method] : undefined;
    try {
      if (!execute) throw new CommandError("unknown_command", `Unknown command ${method}`);
      const result = await execute(call, isObject(params) ? params : {});
      const thread: FoundThread = await threads.require(call.scope, call.vars.thread_id as string);
      const seq = await protocol.newestSeq(call, thread);
      return {
        json: { type: "success", id, result, meta: { thread_id: thread.id, applied_through_seq: seq } },
      };
    } catch (error) {
      const failure = toFailure(error);
      if (!failure) throw error;
      return { json: { type: "error", id, ...failure } };
    }
  }

  const path = "/threads/{thread_id}";
  return [
    { verb: "POST", path: `${path}/commands`, access: "write", serve: command },
    { verb: "POST", path: `${path}/stream/events`, access: "read", serve: call => protocol.open(call) },
  ];
}

/** `nodes` by their namespaces; those one level below are the children. */
function toTree(nodes: ReadonlyMap<string, JsonObject>, key: string): JsonObject {
  const depth = key === "" ? 1 : key.split("|").length + 1;
  const isChild = (other: string): boolean =>
    other !== "" && other.split("|").length === depth && (key === "" || other.startsWith(`${key}|`));
  const children = [...nodes.keys()].filter(isChild).map(child => toTree(nodes, child));
  return { ...nodes.get(key), ...(children.length > 0 && { children }) };
}

/** The client names the checkpoint to fork from in its config. */
function forkOf(config: Json | undefined): JsonObject {
  const configurable = isObject(config) ? config.configurable : undefined;
  const id = isObject(configurable) ? configurable.checkpoint_id : undefined;
  return typeof id === "string" ? { checkpoint_id: id } : {};
}

/** An answer, with what the caller changes in the state and where the graph goes on. */
const toCommand = (resume: Json, { update, goto }: JsonObject): JsonObject =>
  defined<JsonObject>({ resume, update, goto });

const toSummary = ({ checkpoint, metadata, created_at }: ThreadSnapshot): JsonObject => ({
  id: checkpoint.checkpoint_id as string,
  timestamp: created_at,
  step: metadata.step ?? 0,
  metadata,
});

/** By the id of the interrupt. */
function readResponses(params: JsonObject): JsonObject {
  const { responses, interrupt_id: id, response } = params;
  if (!Array.isArray(responses)) {
    if (typeof id === "string") return { [id]: response ?? null };
    throw new CommandError("invalid_argument", "input.respond requires an interrupt_id");
  }
  const all = responses.map((one: Json): [string, Json] => {
    if (isObject(one) && typeof one.interrupt_id === "string")
      return [one.interrupt_id, one.response ?? null];
    throw new CommandError("invalid_argument", "Each of the responses requires an interrupt_id");
  });
  if (all.length === 0)
    throw new CommandError("invalid_argument", "input.respond requires at least one response");
  return Object.fromEntries(all);
}

const CODES: Partial<Readonly<Record<FaultCode, string>>> = {
  "invalid-params": "invalid_argument",
  "task-not-found": "no_such_run",
  busy: "invalid_argument",
  conflict: "invalid_argument",
  forbidden: "permission_denied",
  "unsupported-operation": "not_supported",
};

/** null: not an answer of this protocol. */
function toFailure(error: unknown): { readonly error: string; readonly message: string } | null {
  if (error instanceof CommandError) return { error: error.code, message: error.message };
  const code = error instanceof Fault ? CODES[error.code] : undefined;
  return code === undefined ? null : { error: code, message: (error as Fault).message };
}
