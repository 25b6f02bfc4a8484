import { toAsyncIterable } from "../lib/batch-source.ts";
import { type AgentName, type ContextId, Fault, type Scope, type Seq, type TaskId } from "../model/index.ts";
import type { ExecuteOperation, LocalMessage, OpenLocalAgents, SendRequest } from "../ports/index.ts";
import { LogReader, type LogReaderParts } from "./log-reader.ts";

export interface LocalAgentsParts extends LogReaderParts {
  /** With the limits of calls: an agent acts for its caller. */
  readonly execute: ExecuteOperation;
  /** The scope of an agent that acts for a caller. */
  readonly toAgentScope: (scope: Scope) => Scope;
}

/** Calls among the agents of a server are operations like those of any other caller; only the authentication is missing. */
export const createLocalAgents =
  (parts: LocalAgentsParts): OpenLocalAgents =>
  caller => {
    const scope = parts.toAgentScope(caller);
    return {
      async send(agent, message, signal) {
        const result = await parts.execute(
          {
            op: "send",
            agent: agent as AgentName,
            send: toSend(message),
            until: "accepted",
            view: { artifacts: false, historyMax: 0 },
          },
          scope,
          () => signal,
        );
        if ("kind" in result && result.kind === "task" && result.seq !== undefined) {
          const { id: taskId, contextId } = result.task;
          return { taskId, contextId, seq: result.seq, reply: null };
        }
        if (!("kind" in result) || result.kind !== "message") throw new Error("a result without a task");
        const { taskId = "", contextId = "" } = result.message;
        return { taskId: taskId as never, contextId: contextId as never, seq: null, reply: result.message };
      },
      read: (turn, signal) => readTurn(parts, scope, turn.taskId, turn.seq ?? (0 as Seq), signal),
      async cancel(agent, taskId) {
        try {
          const operation = { op: "cancel", agent: agent as AgentName, taskId, again: "task" } as const;
          await parts.execute(operation, scope, () => AbortSignal.timeout(CANCEL_MS));
        } catch (error) {
          if (!(error instanceof Fault) || error.code !== "task-not-cancelable") throw error;
        }
      },
    };
  };

const CANCEL_MS = 10_000;

const toSend = (message: LocalMessage): SendRequest => {
  const { messageId, parts, taskId, contextId, metadata, thread, trace, hops } = message;
  return {
    origin: "v1",
    message: { messageId, role: "user", parts },
    ...(metadata && { metadata }),
    ...(taskId !== undefined && { taskId }),
    // Not the thread, which would name the context of the caller: an agent that calls itself would wait for its own turn.
    contextId: contextId ?? (messageId as ContextId),
    ...(trace && { trace }),
    key: messageId,
    thread,
    hops,
    extensions: [],
  };
};

async function* readTurn(parts: LogReaderParts, scope: Scope, taskId: TaskId, seq: Seq, signal: AbortSignal) {
  const range = { scope, taskId, after: (seq - 1) as Seq, until: "settled" as const };
  for await (const { steps } of toAsyncIterable(new LogReader(parts, range), signal)) yield* steps;
  signal.throwIfAborted();
}
