/** MCP tool calls as operations, through the same steps as every other call. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { toAsyncIterable } from "../lib/batch-source.ts";
import { defined, type Json, type JsonObject } from "../lib/json.ts";
import {
  Fault,
  isSettled,
  LIMITS,
  type Part,
  type Step,
  type Task,
  type TaskId,
  textOf,
} from "../model/index.ts";
import type {
  Agent,
  Authenticator,
  CallObserver,
  Catalog,
  Operation,
  OperationResult,
  Pipeline,
  Principal,
  RequestHeaders,
  SendRequest,
  StepStream,
} from "../ports/index.ts";
import {
  checkJson,
  getMember,
  invalidField,
  isObject,
  readContextId,
  readString,
  readTaskId,
  requireId,
} from "../protocol/shared/fields.ts";
import { type AgentTool, CANCEL_TASK, findTool, GET_TASK, toTools } from "./tool-list.ts";
import { toError, toReply, toResult } from "./tool-result.ts";

export interface ToolCallParts {
  readonly pipeline: Pipeline;
  readonly authenticator: Authenticator;
  readonly catalog: Catalog;
  readonly mcpWaitMs: number;
}

/** The caller of a tool. */
export interface ToolCaller {
  readonly principal: Principal | undefined;
  /** See `WireCall`. */
  readonly base: string;
  readonly headers: RequestHeaders;
  readonly signal: AbortSignal;
  /** Sends a progress notification; undefined: the caller did not ask for them. */
  readonly progress: ((text: string) => void) | undefined;
}

interface ObservedToolCaller extends ToolCaller {
  readonly observer: CallObserver | undefined;
}

const LIST = { method: "tools/list" };
const CALL = "tools/call";
const DIALECT = "mcp";

const VIEW = { artifacts: true, historyMax: 0 } as const;

export function createToolCalls({ pipeline, authenticator, catalog, mcpWaitMs }: ToolCallParts) {
  /** The agents that the caller may see. */
  const agentsFor = ({ principal, base }: ToolCaller): readonly Agent[] =>
    catalog.visibleTo(authenticator.authorize(principal, { op: "agents", agent: undefined, base })).all();

  /** Ends the waiting, not the run: when the caller disconnects, or after `mcpWaitMs`. */
  const waitSignal = ({ signal }: ToolCaller): AbortSignal =>
    AbortSignal.any([signal, AbortSignal.timeout(mcpWaitMs)]);

  const execute = (
    { principal, observer, signal: callerSignal }: ObservedToolCaller,
    operation: Operation,
    signal = callerSignal,
  ): Promise<OperationResult | StepStream> =>
    pipeline.execute(operation, { principal, observer, signal: () => signal });

  async function send(
    caller: ObservedToolCaller,
    { agent, skill, name: tool }: AgentTool,
    input: JsonObject,
  ): Promise<CallToolResult> {
    const base = { agent: agent.name, send: readSend(input, skill), until: "settled" as const, view: VIEW };
    if (!caller.progress || !agent.card.streaming) {
      const result = await execute(caller, { op: "send", ...base }, waitSignal(caller));
      if ("kind" in result && result.kind === "message") return toReply(result.message);
      return toResult(taskIn(result), tool);
    }
    const steps = (await execute(caller, { op: "stream", ...base })) as StepStream;
    const last = await readLast(steps, waitSignal(caller), caller);
    if (!last) throw new Fault("unavailable", "The task was created, but it cannot be read now");
    return last.task.reply ? toReply(last.task.reply) : toResult(last.task, tool);
  }

  async function get(caller: ObservedToolCaller, input: JsonObject): Promise<CallToolResult> {
    const target = { agent: undefined, choice: "any" as const, taskId: readTask(input) };
    const task = taskIn(await execute(caller, { op: "get", ...target, view: VIEW }));
    if (isSettled(task.status.state)) return toResult(task, undefined);
    // Observed as one call.
    const waiting = { ...caller, observer: undefined };
    const steps = await execute(waiting, {
      op: "subscribe",
      ...target,
      from: "snapshot",
      until: "settled",
      ended: "snapshot",
    });
    const last = await readLast(steps as StepStream, waitSignal(caller), waiting);
    return toResult(last?.task ?? task, undefined);
  }

  async function cancel(caller: ObservedToolCaller, input: JsonObject): Promise<CallToolResult> {
    const target = { agent: undefined, choice: "any" as const, taskId: readTask(input) };
    const result = await execute(caller, { op: "cancel", ...target, again: "task" });
    return { ...toResult(taskIn(result), undefined), isError: false };
  }

  async function dispatch(
    caller: ObservedToolCaller,
    tool: string,
    input: JsonObject,
  ): Promise<CallToolResult> {
    if (tool === GET_TASK) return get(caller, input);
    if (tool === CANCEL_TASK) return cancel(caller, input);
    const found = findTool(tool, agentsFor(caller));
    if (!found) throw new Fault("agent-not-found", `Unknown tool "${tool}"`);
    return send(caller, found, input);
  }

  return {
    list(caller: ToolCaller) {
      try {
        return toTools(agentsFor(caller));
      } catch (error) {
        throw new Error(pipeline.recordFault(error, LIST, DIALECT).message);
      }
    },
    /** Faults become results with `isError`, which the model can read; only the message of a Fault is sent. */
    async call(caller: ToolCaller, tool: string, input: JsonObject): Promise<CallToolResult> {
      const call = { transport: "mcp", headers: caller.headers, method: CALL, params: input } as const;
      const observer = pipeline.startCall(call, DIALECT);
      try {
        return await dispatch({ ...caller, observer }, tool, input);
      } catch (error) {
        const { code, message } = pipeline.recordFault(error, call, DIALECT, observer);
        if (code === "internal") throw new Error(message);
        return toError(code === "invalid-params" ? `Invalid params: ${message}` : message);
      } finally {
        observer?.onEnd();
      }
    },
  };
}

function taskIn(result: OperationResult | StepStream): Task {
  if ("kind" in result && result.kind === "task") return result.task;
  throw new Error("a result without a task");
}

/** Reads to the end and returns the newest step. */
async function readLast(
  steps: StepStream,
  signal: AbortSignal,
  { progress, observer }: ObservedToolCaller,
): Promise<Step | undefined> {
  let last: Step | undefined;
  for await (const batch of toAsyncIterable(steps, signal)) {
    observer?.onSteps(batch.steps);
    last = batch.steps.at(-1) ?? last;
    const text = progress && batch.steps.map(progressText).join("");
    if (text) progress(text.slice(0, LIMITS.mcpProgressCharsMax));
  }
  return last;
}

function progressText({ event, taskId }: Step): string {
  if (event?.type === "artifact") return textOf(event.artifact.parts);
  if (event?.type === "status") return event.message ? textOf(event.message.parts) : "";
  return event?.type === "started" ? `The task ${taskId} has started. ` : "";
}

/** With the readers of the dialects, so that the same input is valid over every transport. */
function readSend(input: JsonObject, skillId: string | undefined): SendRequest {
  const parts: Part[] = [];
  const text = readString(input, "message", "");
  if (text) parts.push({ kind: "text", text });
  const data = getMember(input, "data");
  if (data !== undefined) {
    checkJson(data, "data");
    parts.push({ kind: "data", data });
  }
  if (parts.length === 0) throw invalidField("message", "is missing: give a message, or data");
  return defined<SendRequest>({
    origin: "v1",
    message: { role: "user", parts, ...(skillId !== undefined && { metadata: { skillId } }) },
    shown: true,
    inputField: "data",
    extensions: [],
    taskId: readTaskId(input, "task", ""),
    contextId: readContextId(input, "context", ""),
  });
}

const readTask = (input: JsonObject): TaskId => requireId(input, "task", "") as TaskId;

export const toInput = (input: unknown): JsonObject =>
  isObject(input as Json | undefined) ? (input as JsonObject) : {};
