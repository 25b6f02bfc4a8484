import { isLoopback, isSameOrigin } from "../../client/address.ts";
import { CLIENT_LIMITS } from "../../client/limits.ts";
import { type AgentAccess, openAgent, type RemoteAgent } from "../../client/open.ts";
import { type Progress, updateProgress } from "../../client/progress.ts";
import { readResumable } from "../../client/resume.ts";
import { sleep } from "../../client/sleep.ts";
import type { ReceivedResponse, StreamResponse } from "../../client/types.ts";
import type { Message, Until } from "../../model/index.ts";
import { EXIT } from "../command.ts";
import { findTaskRemote } from "./find-task.ts";
import { type CommandHints, createHints } from "./hints.ts";
import { type InterruptReason, runInterruptible } from "./interrupt.ts";
import type { Output } from "./output.ts";
import { type Remote, toAccess } from "./target.ts";
import { createTaskPrinter, type TaskPrinter } from "./task-printer.ts";
import type { Terminal } from "./terminal.ts";

/** A connection to one agent, and the position in the stream of its task. */
export interface AgentSession {
  readonly agent: RemoteAgent;
  readonly output: Output;
  readonly printer: TaskPrinter;
  readonly hints: CommandHints;
  readonly json: boolean;
  readonly signal: AbortSignal;
  progress: Progress;
  /** The last message of the task's status. */
  question: Message | undefined;
}

export interface SessionOptions {
  readonly remote: Remote;
  readonly saveFolder?: string | undefined;
  /** Print earlier messages of the task. */
  readonly history?: boolean;
  readonly timeoutMs?: number | undefined;
  /** On a server with several agents, the session is with the one that has this task. */
  readonly taskId?: string | undefined;
}

/** Connects to an agent and runs a command. If it is interrupted, prints how to follow or cancel the task. */
export function withSession(
  terminal: Terminal,
  options: SessionOptions,
  work: (session: AgentSession) => Promise<number>,
): Promise<number> {
  const { saveFolder, history = false, timeoutMs, taskId } = options;
  let session: AgentSession | undefined;
  return runInterruptible(
    terminal,
    async ({ output, signal }) => {
      const remote =
        taskId === undefined
          ? options.remote
          : await findTaskRemote(terminal, options.remote, taskId, signal);
      const agent = await openRemote(terminal, remote, output, signal);
      const printer = createTaskPrinter({ output, saveFolder, history });
      const hints = createHints(terminal, remote);
      session = {
        agent,
        output,
        printer,
        hints,
        json: remote.json,
        signal,
        progress: {},
        question: undefined,
      };
      return work(session);
    },
    { timeoutMs, onInterrupted: (output, reason) => printDetached(output, session, reason) },
  ).finally(() => session?.agent.close());
}

/** Reads the agent card and connects to the best interface. */
export async function openRemote(
  terminal: Pick<Terminal, "fetch">,
  remote: Remote,
  output: Output,
  signal: AbortSignal,
): Promise<RemoteAgent> {
  output.startWaiting(`waiting for the card of ${remote.target.base}`);
  const { target, headers } = remote;
  // A card may name an interface on another origin: credentials are sent only to the origin that the user typed.
  const isTarget = (url: string): boolean => isSameOrigin(url, target.base);
  const access = (url: string) => toAccess(terminal, isTarget(url) ? remote : { headers: {} });
  const agent = await openOnThisMachine(target, access, signal);
  output.stopWaiting();
  const { url } = agent.endpoint;
  if (Object.keys(headers).length > 0 && !isTarget(url))
    output.note(`the card names ${url}, another origin: --header is not sent there; call that URL directly`);
  return agent;
}

/**
 * A server on this machine may have a card with its public URL, which leads to a proxy or nowhere: the address of the
 * machine itself is called.
 */
async function openOnThisMachine(
  target: Remote["target"],
  access: (url: string) => AgentAccess,
  signal: AbortSignal,
): Promise<RemoteAgent> {
  const agent = await openAgent({ source: target, access }, signal);
  if (!isLoopback(target.base) || isLoopback(agent.endpoint.url) || target.isCard) return agent;
  agent.close();
  const source = { card: agent.card };
  return openAgent({ source, url: target.base, transport: "JSONRPC", access }, signal);
}

/** Reads a stream to its end and resumes it after lost connections. */
export const resumeStream = (
  { agent, signal, output }: Pick<AgentSession, "agent" | "signal" | "output">,
  stream: AsyncIterable<ReceivedResponse>,
  until: Until,
  start: Progress,
  isFollowUp = false,
): AsyncIterable<ReceivedResponse> =>
  readResumable(
    { agent, until, isFollowUp, delaysMs: CLIENT_LIMITS.retryDelaysMs, signal, sleep, onRetry: output.note },
    stream,
    start,
  );

/** A response that is not streamed, in the form of a stream. */
export async function* toStream(response: Promise<ReceivedResponse>): AsyncGenerator<ReceivedResponse> {
  yield await response;
}

export async function printResponses(
  session: AgentSession,
  responses: AsyncIterable<ReceivedResponse>,
): Promise<void> {
  const { output, printer, agent } = session;
  output.startWaiting(`waiting for ${agent.name}`);
  for await (const received of responses) {
    session.progress = updateProgress(session.progress, received);
    session.question = messageOf(received.item) ?? session.question;
    if (session.json) output.json(received.raw);
    else await printer.show(received.item);
    output.startWaiting(session.progress.state ?? "waiting");
  }
  output.end();
}

const messageOf = (item: StreamResponse): Message | undefined =>
  item.kind === "task" ? item.task.message : item.kind === "status" ? item.message : undefined;

/** Prints the final state of the task. Returns the exit code. */
export function reportResult({ output, json, hints, progress }: AgentSession): number {
  const { taskId, contextId, state, replied } = progress;
  if (!json)
    output.note(
      replied
        ? `a message, no task${contextId ? `; context ${contextId}` : ""}`
        : `task ${taskId} ${state}; read it again: ${hints.tail(taskId === undefined ? {} : { taskId })}`,
    );
  return isFailure(state) ? EXIT.taskFailed : EXIT.ok;
}

export const isFailure = (state: Progress["state"]): boolean =>
  state === "failed" || state === "rejected" || state === "canceled";

function printDetached(output: Output, session: AgentSession | undefined, reason: InterruptReason): void {
  const cause = reason === "timeout" ? "Timed out" : "Detached";
  if (session?.progress.taskId === undefined) return output.note(`${cause} before the agent responded`);
  const { progress, hints } = session;
  output.note(`${cause}: task ${progress.taskId} is still running`);
  output.note(`  follow it: ${hints.tail(progress)}`);
  output.note(`  cancel it: ${hints.cancel(progress)}`);
}
