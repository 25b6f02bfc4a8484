import { setTimeout as sleepFor } from "node:timers/promises";
import { isSameOrigin } from "../../client/address.ts";
import { CLIENT_LIMITS } from "../../client/limits.ts";
import { type AgentAccess, openAgent, type RemoteAgent } from "../../client/open.ts";
import { updateProgress, type Progress } from "../../client/progress.ts";
import { type ResumeParts, readResumable } from "../../client/resume.ts";
import type { ReceivedResponse } from "../../client/types.ts";
import type { Until } from "../../model/index.ts";
import { EXIT } from "../command.ts";
import type { Remote } from "../commands/remote-options.ts";
import { CLI_LIMITS } from "../limits.ts";
import { createHints, type Hints } from "./hints.ts";
import { createInterrupt, type Interrupt } from "./interrupt.ts";
import { createOutput, type Output } from "./output.ts";
import { createTaskPrinter, type TaskPrinter } from "./task-printer.ts";
import type { Terminal } from "./terminal.ts";

/** A conversation with one agent on one terminal. */
export interface AgentSession {
  readonly agent: RemoteAgent;
  readonly output: Output;
  readonly printer: TaskPrinter;
  readonly hints: Hints;
  readonly json: boolean;
  readonly signal: AbortSignal;
  progress: Progress;
}

export interface SessionOptions {
  readonly remote: Remote;
  readonly saveFolder?: string;
  readonly history: boolean;
  readonly timeoutMs?: number;
}

/** Opens a talk, has it, and leaves well: a reader that stops early says that the task goes on. */
export async function withSession(
  terminal: Terminal,
  wish: SessionOptions,
  have: (talk: AgentSession) => Promise<number>,
): Promise<number> {
  const interrupt = createInterrupt(terminal, wish.timeoutMs);
  const output = createOutput(terminal, CLI_LIMITS.waitingDelayMs);
  let talk: AgentSession | undefined;
  try {
    talk = await openTalk(terminal, wish, output, interrupt.signal);
    return await have(talk);
  } catch (error) {
    if (interrupt.reason === undefined) throw error;
    return leave(output, talk, interrupt);
  } finally {
    talk?.agent.close();
    output.end();
    interrupt.close();
  }
}

async function openTalk(
  terminal: Terminal,
  wish: SessionOptions,
  output: Output,
  signal: AbortSignal,
): Promise<AgentSession> {
  const { remote, saveFolder, history } = wish;
  const agent = await openRemote(terminal, remote, output, signal);
  const printer = createTaskPrinter({ output, saveFolder, history });
  const hints = createHints(terminal, remote);
  return { agent, output, printer, hints, json: remote.json, signal, progress: {} };
}

/** The agent behind an address. */
export async function openRemote(
  terminal: Pick<Terminal, "fetch">,
  remote: Remote,
  output: Output,
  signal: AbortSignal,
): Promise<RemoteAgent> {
  output.startWaiting(`waiting for the card of ${remote.target.base}`);
  const { target, headers } = remote;
  // A card may send calls to another origin: the user's credentials are not for that one.
  const isMeant = (url: string): boolean => isSameOrigin(url, target.base);
  const access = (url: string) => toAccess(terminal, isMeant(url) ? remote : { headers: {} });
  const agent = await openAgent({ address: target, access }, signal);
  output.stopWaiting();
  const { url } = agent.endpoint;
  if (Object.keys(headers).length > 0 && !isMeant(url))
    output.note(
      `the card sends calls to ${url}, another origin: --header is not sent there; call it directly`,
    );
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

/** A stream that is read to its end, over lost connections. */
export function resumeStream(
  talk: AgentSession,
  begin: AsyncIterable<ReceivedResponse>,
  until: Until,
  start: Progress,
): AsyncIterable<ReceivedResponse> {
  const parts: ResumeParts = {
    agent: talk.agent,
    until,
    delaysMs: CLIENT_LIMITS.retryDelaysMs,
    signal: talk.signal,
    sleep,
    onRetry: talk.output.note,
  };
  return readResumable(parts, begin, start);
}

export const sleep = (ms: number, signal: AbortSignal): Promise<void> => sleepFor(ms, undefined, { signal });

/** Shows what arrives. */
export async function printResponses(talk: AgentSession, items: AsyncIterable<ReceivedResponse>): Promise<void> {
  const { output, printer, agent } = talk;
  output.startWaiting(`waiting for ${agent.name}`);
  for await (const received of items) {
    talk.progress = updateProgress(talk.progress, received);
    if (talk.json) output.json(received.raw);
    else await printer.show(received.item);
    output.startWaiting(`${talk.progress.state ?? "waiting"}`);
  }
  output.end();
}

/** How it ended: one line about the task, and the exit code. */
export function reportResult(talk: AgentSession): number {
  const { output, progress } = talk;
  if (!talk.json) output.note(ending(talk));
  const failed =
    progress.state === "failed" || progress.state === "rejected" || progress.state === "canceled";
  return failed ? EXIT.taskFailed : EXIT.ok;
}

function ending({ progress, hints }: AgentSession): string {
  if (progress.replied)
    return `a message, no task${progress.contextId ? `; context ${progress.contextId}` : ""}`;
  const { taskId, state } = progress;
  return `task ${taskId} ${state}; read it again: ${hints.tail(taskId === undefined ? {} : { taskId })}`;
}

function leave(output: Output, talk: AgentSession | undefined, interrupt: Interrupt): number {
  output.end();
  const why = interrupt.reason === "time" ? "The time is over" : "Detached";
  const code = interrupt.reason === "time" ? EXIT.error : EXIT.interrupted;
  if (talk?.progress.taskId === undefined) {
    output.note(`${why} before the agent answered`);
    return code;
  }
  output.note(`${why}: task ${talk.progress.taskId} goes on`);
  output.note(`  follow it: ${talk.hints.tail(talk.progress)}`);
  output.note(`  cancel it: ${talk.hints.cancel(talk.progress)}`);
  return code;
}
