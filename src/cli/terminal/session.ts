import { setTimeout as sleepFor } from "node:timers/promises";
import { isSameOrigin } from "../../client/address.ts";
import { CLIENT_LIMITS } from "../../client/limits.ts";
import { type AgentAccess, openAgent, type RemoteAgent } from "../../client/open.ts";
import { type Progress, updateProgress } from "../../client/progress.ts";
import { readResumable } from "../../client/resume.ts";
import type { ReceivedResponse } from "../../client/types.ts";
import type { Until } from "../../model/index.ts";
import { EXIT } from "../command.ts";
import type { Remote } from "../commands/remote-options.ts";
import { type InterruptReason, runInterruptible } from "./interrupt.ts";
import type { Output } from "./output.ts";
import { createTaskPrinter, type TaskPrinter } from "./task-printer.ts";
import { quoteForShell, type Terminal } from "./terminal.ts";

/** A connection to one agent, and the position in the stream of its task. */
export interface AgentSession {
  readonly agent: RemoteAgent;
  readonly output: Output;
  readonly printer: TaskPrinter;
  readonly hints: CommandHints;
  readonly json: boolean;
  readonly signal: AbortSignal;
  progress: Progress;
}

export interface SessionOptions {
  readonly remote: Remote;
  readonly saveFolder?: string | undefined;
  /** Print earlier messages of the task. */
  readonly history?: boolean;
  readonly timeoutMs?: number | undefined;
}

/** Connects to an agent and runs a command. If it is interrupted, prints how to follow or cancel the task. */
export function withSession(
  terminal: Terminal,
  options: SessionOptions,
  work: (session: AgentSession) => Promise<number>,
): Promise<number> {
  const { remote, saveFolder, history = false, timeoutMs } = options;
  let session: AgentSession | undefined;
  return runInterruptible(
    terminal,
    async ({ output, signal }) => {
      const agent = await openRemote(terminal, remote, output, signal);
      const printer = createTaskPrinter({ output, saveFolder, history });
      const hints = createHints(terminal, remote);
      session = { agent, output, printer, hints, json: remote.json, signal, progress: {} };
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
  const agent = await openAgent({ address: target, access }, signal);
  output.stopWaiting();
  const { url } = agent.endpoint;
  if (Object.keys(headers).length > 0 && !isTarget(url))
    output.note(`the card names ${url}, another origin: --header is not sent there; call that URL directly`);
  return agent;
}

export const toAccess = (
  { fetch }: Pick<Terminal, "fetch">,
  { headers }: Pick<Remote, "headers">,
): AgentAccess => ({
  fetch,
  credentials: async () => headers,
  direct: true,
});

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

export const sleep = (ms: number, signal: AbortSignal): Promise<void> => sleepFor(ms, undefined, { signal });

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
    if (session.json) output.json(received.raw);
    else await printer.show(received.item);
    output.startWaiting(session.progress.state ?? "waiting");
  }
  output.end();
}

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

/** Commands for the user to paste. Values of headers are omitted: they may be secrets. */
export interface CommandHints {
  tail(progress: Progress): string;
  cancel(progress: Progress): string;
  answer(progress: Progress): string;
}

function createHints({ program }: Pick<Terminal, "program">, { target, headers }: Remote): CommandHints {
  const headerFlags = Object.keys(headers).flatMap(name => ["--header", quoteForShell(`${name}: …`)]);
  const toCommand = (name: string, ...rest: readonly string[]): string =>
    [program, name, quoteForShell(target.base), ...rest, ...headerFlags].join(" ");
  return {
    tail: ({ taskId = "", eventId }) =>
      toCommand("tail", quoteForShell(taskId), ...(eventId ? ["--from", quoteForShell(eventId)] : [])),
    cancel: ({ taskId = "" }) => toCommand("cancel", quoteForShell(taskId)),
    answer: ({ taskId = "", contextId = "" }) =>
      toCommand(
        "call",
        "'your answer'",
        "--task",
        quoteForShell(taskId),
        "--context",
        quoteForShell(contextId),
      ),
  };
}
