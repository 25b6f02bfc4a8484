/** Calls of tools to operations of ours: what holds for every caller holds here. */
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
  toFault,
} from "../model/index.ts";
import type {
  Agent,
  Answer,
  Authenticator,
  CallObserver,
  Catalog,
  ExecuteOperation,
  Headers,
  Log,
  Observer,
  Operation,
  Principal,
  Send,
  Steps,
} from "../ports/index.ts";
import { isSteps } from "../ports/operation.ts";
import {
  bad,
  checkJson,
  isObject,
  member,
  needId,
  readContextId,
  readTaskId,
  readText,
} from "../protocol/shared/read.ts";
import { agentOf, CANCEL_TASK, GET_TASK, toTools } from "./offer.ts";
import { toError, toReply, toResult } from "./result.ts";

export interface CallsParts {
  readonly guard: Authenticator;
  readonly core: ExecuteOperation;
  readonly catalog: Catalog;
  /** undefined: nobody watches. */
  readonly watch: Observer | undefined;
  readonly mcpWaitMs: number;
  readonly log: Log;
}

/** One call of one caller. */
export interface Visit {
  readonly principal: Principal | undefined;
  /** Where the caller reached us. */
  readonly base: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  /** Tells the caller how it goes on; undefined: he does not want to know. */
  readonly progress: ((words: string) => void) | undefined;
}

/** A visit, and whoever watches it. */
interface Watched extends Visit {
  readonly watched: CallObserver | undefined;
}

/** As MCP calls it. */
const CALL = "tools/call";

const WHOLE = { artifacts: true, historyMax: 0 } as const;

export function createCalls(parts: CallsParts) {
  const { guard, core, catalog } = parts;

  const agentsFor = ({ principal, base }: Visit): readonly Agent[] =>
    catalog.visibleTo(guard.authorize(principal, { op: "agents", agent: undefined, base })).all();

  /** Ends when the caller goes, or when it has waited long enough: the work goes on. */
  const patience = ({ signal }: Visit): AbortSignal =>
    AbortSignal.any([signal, AbortSignal.timeout(parts.mcpWaitMs)]);

  async function ask(visit: Watched, operation: Operation, signal = visit.signal): Promise<Answer | Steps> {
    const scope = guard.authorize(visit.principal, operation);
    const asked = visit.watched ? visit.watched.asked(operation, scope) : operation;
    const answer = await core(asked, scope, () => signal);
    if (!isSteps(answer)) visit.watched?.answered(answer);
    return answer;
  }

  async function say(visit: Watched, agent: Agent, tool: string, input: JsonObject): Promise<CallToolResult> {
    const base = { agent: agent.name, send: readSend(input), until: "settled" as const, view: WHOLE };
    if (!visit.progress || !agent.card.streaming) {
      const answer = await ask(visit, { op: "send", ...base }, patience(visit));
      return toAnswer(answer as Answer, tool);
    }
    const steps = (await ask(visit, { op: "stream", ...base })) as Steps;
    const last = await read(steps, patience(visit), visit);
    if (!last) throw new Fault("unavailable", "The task was made, but it cannot be read now");
    return last.task.reply ? toReply(last.task.reply) : toResult(last.task, tool);
  }

  async function get(visit: Watched, input: JsonObject): Promise<CallToolResult> {
    const taskId = readTask(input);
    const asked = { agent: undefined, choice: "any" as const, taskId };
    const task = taskIn(await ask(visit, { op: "get", ...asked, view: WHOLE }));
    if (isSettled(task.status.state)) return toResult(task, undefined);
    const reading = {
      op: "subscribe" as const,
      ...asked,
      from: "snapshot" as const,
      until: "settled" as const,
      ended: "snapshot" as const,
    };
    // To those who watch it is one call.
    const waiting = { ...visit, watched: undefined };
    const steps = (await ask(waiting, reading)) as Steps;
    const last = await read(steps, patience(visit), waiting);
    return toResult(last?.task ?? task, undefined);
  }

  async function cancel(visit: Watched, input: JsonObject): Promise<CallToolResult> {
    const asked = { agent: undefined, choice: "any" as const, taskId: readTask(input) };
    const answer = await ask(visit, { op: "cancel", ...asked, again: "task" });
    return { ...toResult(taskIn(answer), undefined), isError: false };
  }

  async function use(visit: Watched, tool: string, input: JsonObject): Promise<CallToolResult> {
    if (tool === GET_TASK) return get(visit, input);
    if (tool === CANCEL_TASK) return cancel(visit, input);
    const agent = agentOf(tool, agentsFor(visit));
    if (!agent) throw new Fault("agent-not-found", `There is no tool "${tool}" here`);
    return say(visit, agent, tool, input);
  }

  /** Only faults are meant for callers: the message of any other error stays in the log. */
  function refused(error: unknown): Error {
    const fault = toFault(error);
    if (fault.code === "internal" || fault.cause)
      parts.log.error({ err: fault.cause ?? fault, method: CALL, dialect: "mcp" }, "a call over MCP failed");
    return new Error(fault.message);
  }

  return {
    list(visit: Visit) {
      try {
        return toTools(agentsFor(visit));
      } catch (error) {
        throw refused(error);
      }
    },
    /** What is wrong with a call is told to who made it: it may do better. */
    async call(visit: Visit, tool: string, input: JsonObject): Promise<CallToolResult> {
      const called = { transport: "mcp", headers: visit.headers, method: CALL, params: input } as const;
      const watched = parts.watch?.begin(called, "mcp");
      try {
        return await use({ ...visit, watched }, tool, input);
      } catch (error) {
        const fault = toFault(error);
        watched?.refused(fault);
        const told = refused(fault);
        if (fault.code === "internal") throw told;
        return toError(fault.code === "invalid-params" ? `Invalid params: ${fault.message}` : fault.message);
      } finally {
        watched?.ended();
      }
    },
  };
}

const taskIn = (answer: Answer | Steps): Task => {
  if ("kind" in answer && answer.kind === "task") return answer.task;
  throw new Error("an answer without a task");
};

const toAnswer = (answer: Answer, tool: string): CallToolResult =>
  answer.kind === "message" ? toReply(answer.message) : toResult(taskIn(answer), tool);

/** The newest step. */
async function read(
  steps: Steps,
  signal: AbortSignal,
  { progress, watched }: Watched,
): Promise<Step | undefined> {
  let last: Step | undefined;
  for await (const bunch of toAsyncIterable(steps, signal)) {
    watched?.read(bunch.steps);
    last = bunch.steps.at(-1) ?? last;
    const words = progress && bunch.steps.map(wordsOf).join("");
    if (words) progress(words.slice(0, LIMITS.mcpProgressCharsMax));
  }
  return last;
}

function wordsOf({ event, taskId }: Step): string {
  if (event?.type === "artifact") return textOf(event.artifact.parts);
  if (event?.type === "status") return event.message ? textOf(event.message.parts) : "";
  return event?.type === "started" ? `The task ${taskId} has begun. ` : "";
}

/** The readers of the dialects: no transport takes what another refuses. */
function readSend(input: JsonObject): Send {
  const parts: Part[] = [];
  const text = readText(input, "message", "");
  if (text) parts.push({ kind: "text", text });
  const data = member(input, "data");
  if (data !== undefined) {
    checkJson(data, "data");
    parts.push({ kind: "data", data });
  }
  if (parts.length === 0) throw bad("message", "is missing: give a message, or data");
  return defined<Send>({
    origin: "v1",
    message: { role: "user", parts },
    shown: true,
    extensions: [],
    taskId: readTaskId(input, "task", ""),
    contextId: readContextId(input, "context", ""),
  });
}

const readTask = (input: JsonObject): TaskId => needId(input, "task", "") as TaskId;

export const toInput = (given: unknown): JsonObject =>
  isObject(given as Json | undefined) ? (given as JsonObject) : {};
