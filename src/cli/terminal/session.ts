import { setTimeout as sleepFor } from "node:timers/promises";
import { isSameOrigin } from "../../client/address.ts";
import { CLIENT_LIMITS } from "../../client/limits.ts";
import { type AgentAccess, openAgent, type RemoteAgent } from "../../client/open.ts";
import { advance, type Progress } from "../../client/progress.ts";
import { type FollowParts, follow } from "../../client/resume.ts";
import type { Received } from "../../client/types.ts";
import type { Until } from "../../model/index.ts";
import { EXIT } from "../command.ts";
import type { Remote } from "../commands/remote-options.ts";
import { CLI_LIMITS } from "../limits.ts";
import { createHints, type Hints } from "./hints.ts";
import { createInterrupt, type Interrupt } from "./interrupt.ts";
import { createOutput, type Output } from "./output.ts";
import { createPrinter, type Printer } from "./task-printer.ts";
import type { Terminal } from "./terminal.ts";

/** A conversation with one agent on one terminal. */
export interface Talk {
  readonly agent: RemoteAgent;
  readonly output: Output;
  readonly printer: Printer;
  readonly hints: Hints;
  readonly json: boolean;
  readonly signal: AbortSignal;
  progress: Progress;
}

export interface TalkWish {
  readonly remote: Remote;
  readonly saveFolder?: string;
  readonly history: boolean;
  readonly timeoutMs?: number;
}

/** Opens a talk, has it, and leaves well: a reader that stops early says that the task goes on. */
export async function withTalk(
  terminal: Terminal,
  wish: TalkWish,
  have: (talk: Talk) => Promise<number>,
): Promise<number> {
  const interrupt = createInterrupt(terminal, wish.timeoutMs);
  const output = createOutput(terminal, CLI_LIMITS.patienceMs);
  let talk: Talk | undefined;
  try {
    talk = await openTalk(terminal, wish, output, interrupt.signal);
    return await have(talk);
  } catch (error) {
    if (interrupt.why === undefined) throw error;
    return leave(output, talk, interrupt);
  } finally {
    talk?.agent.close();
    output.end();
    interrupt.close();
  }
}

async function openTalk(
  terminal: Terminal,
  wish: TalkWish,
  output: Output,
  signal: AbortSignal,
): Promise<Talk> {
  const { remote, saveFolder, history } = wish;
  const agent = await openRemote(terminal, remote, output, signal);
  const printer = createPrinter({ output, saveFolder, history });
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
  output.waiting(`waiting for the card of ${remote.target.base}`);
  const { target, headers } = remote;
  // A card may send calls to another origin: the user's credentials are not for that one.
  const isMeant = (url: string): boolean => isSameOrigin(url, target.base);
  const access = (url: string) => toAccess(terminal, isMeant(url) ? remote : { headers: {} });
  const agent = await openAgent({ target, access }, signal);
  output.rest();
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
export function followed(
  talk: Talk,
  begin: AsyncIterable<Received>,
  until: Until,
  start: Progress,
): AsyncIterable<Received> {
  const parts: FollowParts = {
    agent: talk.agent,
    until,
    waitsMs: CLIENT_LIMITS.resumeWaitsMs,
    signal: talk.signal,
    sleep,
    note: talk.output.note,
  };
  return follow(parts, begin, start);
}

export const sleep = (ms: number, signal: AbortSignal): Promise<void> => sleepFor(ms, undefined, { signal });

/** Shows what arrives. */
export async function listen(talk: Talk, items: AsyncIterable<Received>): Promise<void> {
  const { output, printer, agent } = talk;
  output.waiting(`waiting for ${agent.name}`);
  for await (const received of items) {
    talk.progress = advance(talk.progress, received);
    if (talk.json) output.json(received.raw);
    else await printer.show(received.item);
    output.waiting(`${talk.progress.state ?? "waiting"}`);
  }
  output.end();
}

/** How it ended: one line about the task, and the exit code. */
export function conclude(talk: Talk): number {
  const { output, progress } = talk;
  if (!talk.json) output.note(ending(talk));
  const failed =
    progress.state === "failed" || progress.state === "rejected" || progress.state === "canceled";
  return failed ? EXIT.taskFailed : EXIT.ok;
}

function ending({ progress, hints }: Talk): string {
  if (progress.replied)
    return `a message, no task${progress.contextId ? `; context ${progress.contextId}` : ""}`;
  const { taskId, state } = progress;
  return `task ${taskId} ${state}; read it again: ${hints.tail(taskId === undefined ? {} : { taskId })}`;
}

function leave(output: Output, talk: Talk | undefined, interrupt: Interrupt): number {
  output.end();
  const why = interrupt.why === "time" ? "The time is over" : "Detached";
  const code = interrupt.why === "time" ? EXIT.trouble : EXIT.interrupted;
  if (talk?.progress.taskId === undefined) {
    output.note(`${why} before the agent answered`);
    return code;
  }
  output.note(`${why}: task ${talk.progress.taskId} goes on`);
  output.note(`  follow it: ${talk.hints.tail(talk.progress)}`);
  output.note(`  cancel it: ${talk.hints.cancel(talk.progress)}`);
  return code;
}
