import type { Command } from "commander";
import { dedupe, type FinalUpdate } from "../../client/dedupe.ts";
import { RemoteError } from "../../client/errors.ts";
import type { RemoteAgent } from "../../client/open.ts";
import { type Progress, updateProgress } from "../../client/progress.ts";
import type { OutgoingMessage, ReceivedResponse } from "../../client/types.ts";
import { defined, type JsonObject } from "../../lib/json.ts";
import { type Part, textOf } from "../../model/index.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";
import { ClientError } from "../terminal/errors.ts";
import { type Interruptible, runInterruptible } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import { isFailure, openRemote, resumeStream, toStream } from "../terminal/session.ts";
import { summarizeParts } from "../terminal/task-printer.ts";
import { oneLine, type Terminal } from "../terminal/terminal.ts";
import { toCount, toSeconds } from "./arguments.ts";
import { type RemoteFlags, serverOptions, toRemote } from "./remote-options.ts";

interface ConverseFlags extends Omit<RemoteFlags, "agent"> {
  readonly opening: string;
  readonly rounds: number;
  readonly timeout?: number;
}

const EXAMPLES = `
Examples:
  dragoman converse http://127.0.0.1:2024 http://127.0.0.1:2025
  dragoman converse http://127.0.0.1:2024/a2a/alpha http://127.0.0.1:2025/a2a/beta --rounds 5
  dragoman converse agents.example/agents/poet agents.example/agents/critic --opening "A haiku about rain"

Each agent gets the response of the other. The exit code is 0, or 3 if a task failed, was rejected or canceled.`;

export function define(program: Command, context: CommandContext): void {
  const command = program
    .command("converse <url> <other>")
    .description(SUMMARIES.converse)
    .option("--opening <text>", "first message to the first agent", "Hello! Let's have a conversation.")
    .option("--rounds <count>", "number of messages to each agent", toCount, 3);
  serverOptions(command)
    .option("--timeout <seconds>", "stop after this time", toSeconds)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, other: string, flags: ConverseFlags) => {
      context.exitCode = await converse(context.terminal, [url, other], flags);
    });
}

interface Participant {
  readonly agent: RemoteAgent;
  /** Of its last turn. */
  progress: Progress;
}

interface Conversation extends Interruptible {
  readonly terminal: Terminal;
  readonly json: boolean;
  /** Groups the traces of both agents: the first context, once it is known. */
  thread: string;
  /** The first context: offered to the other agent. */
  contextId?: string;
}

async function converse(terminal: Terminal, urls: readonly string[], flags: ConverseFlags): Promise<number> {
  const { rounds, timeout, json = false } = flags;
  const participants: Participant[] = [];
  const play = async ({ output, signal }: Interruptible): Promise<number> => {
    const conversation: Conversation = { terminal, output, signal, json, thread: terminal.newId() };
    for (const url of urls)
      participants.push({
        agent: await openRemote(terminal, toRemote(terminal, url, flags), output, signal),
        progress: {},
      });
    let text: string | null = flags.opening;
    for (let round = 1; round <= rounds; round++) {
      if (!json) output.note(`--- round ${round} ---`);
      for (const participant of participants) {
        text = await takeTurn(conversation, participant, text, round);
        if (text === null) return EXIT.taskFailed;
      }
    }
    return EXIT.ok;
  };
  const timeoutMs = timeout === undefined ? undefined : timeout * 1000;
  return runInterruptible(terminal, play, { timeoutMs }).finally(() => {
    for (const { agent } of participants) agent.close();
  });
}

/** Returns the text of the response; null: the task failed, or was rejected or canceled. */
async function takeTurn(
  conversation: Conversation,
  participant: Participant,
  message: string,
  round: number,
): Promise<string | null> {
  const { output, json } = conversation;
  const { agent } = participant;
  const name = oneLine(agent.name);
  if (!json) output.text(`${name}: `);
  output.startWaiting(`waiting for ${name}`);
  let text = "";
  let end: FinalUpdate = { kind: "end", state: "unknown" };
  for await (const update of dedupe(send(conversation, participant, message), agent.endpoint.dialect)) {
    if (update.kind === "end") end = update;
    else if (update.kind === "artifact") {
      text += textOf(update.artifact.parts);
      if (!json) printParts(output, update.artifact.parts);
    } else if (!json) output.note(summarizeParts(update.message.parts));
  }
  const response = text || textOf(end.message?.parts ?? []);
  const failed = isFailure(end.state);
  if (json) output.json(toJson(participant, round, response, end.state));
  else {
    if (text === "" && !failed) output.text(response);
    output.end();
    if (failed)
      output.alert(`${name} ${end.state}${end.message ? `: ${summarizeParts(end.message.parts)}` : ""}`);
  }
  if (failed) return null;
  if (response === "") throw new ClientError(`The response of ${name} has no text for the other agent`);
  return response;
}

function printParts(output: Output, parts: readonly Part[]): void {
  for (const part of parts)
    if (part.kind === "text") output.text(part.text);
    else output.note(summarizeParts([part]));
}

const toJson = ({ agent, progress }: Participant, round: number, text: string, state: string): JsonObject => {
  const { taskId } = progress;
  const contextId = progress.contextId || undefined;
  return defined<JsonObject>({
    round,
    agent: agent.name,
    url: agent.endpoint.url,
    text,
    state,
    contextId,
    taskId,
  });
};

/** The context of the first agent is offered to the other; if that agent refuses it, a context of its own is used. */
async function* send(
  conversation: Conversation,
  participant: Participant,
  text: string,
): AsyncGenerator<ReceivedResponse> {
  const { agent } = participant;
  const { state, taskId, contextId } = participant.progress;
  const offered = contextId || conversation.contextId;
  const request = (context: string | undefined): AsyncIterable<ReceivedResponse> => {
    const message = defined<OutgoingMessage>({
      messageId: conversation.terminal.newId(),
      parts: [{ kind: "text", text }],
      // The text is the answer if the last task asked.
      taskId: state === "input-required" ? taskId : undefined,
      contextId: context,
      thread: conversation.thread,
    });
    const { signal, output } = conversation;
    const responses = agent.streaming ? agent.stream(message, signal) : toStream(agent.send(message, signal));
    participant.progress = defined<Progress>({ taskId, contextId });
    return track(
      conversation,
      participant,
      resumeStream({ agent, signal, output }, responses, "settled", {}, message.taskId !== undefined),
    );
  };
  try {
    yield* request(offered);
  } catch (error) {
    const isRefused = error instanceof RemoteError && error.code !== "unauthenticated";
    if (!isRefused || participant.progress.contextId || offered === undefined) throw error;
    yield* request(undefined);
  }
}

async function* track(
  conversation: Conversation,
  participant: Participant,
  responses: AsyncIterable<ReceivedResponse>,
): AsyncGenerator<ReceivedResponse> {
  for await (const received of responses) {
    participant.progress = updateProgress(participant.progress, received);
    const { contextId } = participant.progress;
    if (contextId) conversation.thread = conversation.contextId ??= contextId;
    yield received;
  }
}
