import type { Command } from "commander";
import type { OutgoingMessage } from "../../client/types.ts";
import type { Json } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { ClientError, messageOf } from "../terminal/errors.ts";
import { readAttachment } from "../terminal/files.ts";
import {
  type AgentSession,
  printResponses,
  reportResult,
  resumeStream,
  toStream,
  withSession,
} from "../terminal/session.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { toSeconds } from "./arguments.ts";
import { type RemoteFlags, remoteOptions, toRemote } from "./remote-options.ts";

interface CallFlags extends RemoteFlags {
  readonly context?: string;
  readonly task?: string;
  readonly data?: string;
  readonly file?: readonly string[];
  readonly save?: string;
  readonly stream: boolean;
  readonly timeout?: number;
}

type Draft = Omit<OutgoingMessage, "messageId">;

const EXAMPLES = `
Examples:
  dragoman call http://127.0.0.1:2024 "hello"
  dragoman call http://127.0.0.1:2024 --agent booking "a table for two"
  dragoman call https://agents.example/agents/reporter "last week" --save reports
  cat question.txt | dragoman call http://127.0.0.1:2024 -

The exit code is 0, 3 if the task failed, was rejected or canceled, or 1 if the call failed.`;

export function define(program: Command, context: CommandContext): void {
  const command = program
    .command("call <url> [text...]")
    .description("Send a message to an agent and print its response as it arrives");
  remoteOptions(command)
    .option("--context <id>", "continue this context")
    .option("--task <id>", "answer the question of this task")
    .option("--data <json>", "add a data part")
    .option("--file <path>", "add a file; repeatable", (path, others: string[] = []) => [...others, path])
    .option("--save <folder>", "save files that the agent sends")
    .option("--no-stream", "do not stream; wait for the whole response")
    .option("--timeout <seconds>", "stop waiting after this time; the task continues", toSeconds)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, words: string[], flags: CallFlags) => {
      context.exitCode = await call(context.terminal, url, words, flags);
    });
}

async function call(
  terminal: Terminal,
  url: string,
  words: readonly string[],
  flags: CallFlags,
): Promise<number> {
  const draft: Draft = {
    parts: await readParts(terminal, words, flags),
    ...(flags.task !== undefined && { taskId: flags.task }),
    ...(flags.context !== undefined && { contextId: flags.context }),
  };
  const options = {
    remote: toRemote(url, flags),
    saveFolder: flags.save,
    timeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
  };
  return withSession(terminal, options, session => sendAndAnswer(terminal, session, draft, flags.stream));
}

async function readParts(
  terminal: Terminal,
  words: readonly string[],
  flags: CallFlags,
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  const text =
    words.length === 1 && words[0] === "-"
      ? await terminal.readInput(CLI_LIMITS.attachmentBytesMax)
      : words.join(" ");
  if (text !== "") parts.push({ kind: "text", text });
  if (flags.data !== undefined) parts.push({ kind: "data", data: parseData(flags.data) });
  for (const path of flags.file ?? []) parts.push(await readAttachment(path, terminal.cwd));
  if (parts.length === 0)
    throw new ClientError(`The message is empty. Example: ${terminal.program} call URL "hello"`);
  return parts;
}

function parseData(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new ClientError(`--data is not JSON: ${messageOf(error)}`);
  }
}

/** Sends the message, and the user's answers for as long as the agent asks and the terminal is interactive. */
async function sendAndAnswer(
  terminal: Terminal,
  session: AgentSession,
  first: Draft,
  stream: boolean,
): Promise<number> {
  const { agent, signal, json, output, hints } = session;
  let draft = first;
  for (let turn = 0; turn < CLI_LIMITS.turnsMax; turn++) {
    session.progress = draft.taskId === undefined ? {} : { taskId: draft.taskId };
    const message = { ...draft, messageId: terminal.newId() };
    const responses =
      stream && agent.streaming
        ? // Without progress, also in a follow-up: a message that did not arrive must not be taken for a lost stream.
          resumeStream(session, agent.stream(message, signal), "asked", {}, draft.taskId !== undefined)
        : toStream(agent.send(message, signal));
    await printResponses(session, responses);
    const { state, taskId, contextId } = session.progress;
    if (state !== "input-required") break;
    const answer = terminal.interactive && !json ? await terminal.ask("> ", signal) : null;
    if (!answer?.trim()) {
      if (!json) output.note(`The agent waits for an answer: ${hints.answer(session.progress)}`);
      return EXIT.ok;
    }
    draft = {
      parts: [{ kind: "text", text: answer }],
      ...(taskId !== undefined && { taskId }),
      ...(contextId !== undefined && { contextId }),
    };
  }
  return reportResult(session);
}
