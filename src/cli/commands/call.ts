import type { Command } from "commander";
import type { OutgoingMessage, ReceivedResponse } from "../../client/types.ts";
import type { Json } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { EXIT, type CommandContext } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { messageOf, ClientError } from "../terminal/errors.ts";
import { readAttachment } from "../terminal/files.ts";
import { reportResult, resumeStream, printResponses, type AgentSession, type SessionOptions, withSession } from "../terminal/session.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type RemoteFlags, remoteOptions, toRemote, toSeconds } from "./remote-options.ts";

interface CallFlags extends RemoteFlags {
  readonly context?: string;
  readonly task?: string;
  readonly data?: string;
  readonly file?: readonly string[];
  readonly save?: string;
  readonly stream: boolean;
  readonly timeout?: number;
}

const EXAMPLES = `
Examples:
  dragoman call http://127.0.0.1:2024 "hello"
  dragoman call http://127.0.0.1:2024 --agent booking "a table for two"
  dragoman call https://agents.example/agents/reporter "last week" --save reports
  cat question.txt | dragoman call http://127.0.0.1:2024 -

The exit code is 0, 3 if the task failed, was rejected or canceled, or 1 if the call went wrong.`;

export function define(program: Command, session: CommandContext): void {
  const command = program
    .command("call <url> [text...]")
    .description("Send a message to an agent and show its answer as it arrives");
  remoteOptions(command)
    .option("--context <id>", "go on in this context")
    .option("--task <id>", "answer the question of this task")
    .option("--data <json>", "add a data part")
    .option("--file <path>", "add a file; repeatable", (path, others: string[] = []) => [...others, path])
    .option("--save <folder>", "save files that the agent sends")
    .option("--no-stream", "ask for the whole answer at once")
    .option("--timeout <seconds>", "stop waiting after this time; the task goes on", toSeconds)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, words: string[], flags: CallFlags) => {
      session.exitCode = await call(session.terminal, url, words, flags);
    });
}

async function call(
  terminal: Terminal,
  url: string,
  words: readonly string[],
  flags: CallFlags,
): Promise<number> {
  const parts = await readParts(terminal, words, flags);
  const wish: SessionOptions = {
    remote: toRemote(url, flags),
    history: false,
    ...(flags.save !== undefined && { saveFolder: flags.save }),
    ...(flags.timeout !== undefined && { timeoutMs: flags.timeout * 1000 }),
  };
  const first: Omit<OutgoingMessage, "messageId"> = {
    parts,
    ...(flags.task !== undefined && { taskId: flags.task }),
    ...(flags.context !== undefined && { contextId: flags.context }),
  };
  return withSession(terminal, wish, talk => converse(terminal, talk, first, flags.stream));
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
    throw new ClientError(`There is nothing to say. Try: ${terminal.program} call URL "hello"`);
  return parts;
}

function parseData(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new ClientError(`--data is not JSON: ${messageOf(error)}`);
  }
}

/** Turn by turn, for as long as the agent asks and somebody is there to answer. */
async function converse(
  terminal: Terminal,
  talk: AgentSession,
  first: Omit<OutgoingMessage, "messageId">,
  stream: boolean,
): Promise<number> {
  let draft = first;
  for (let turn = 0; turn < CLI_LIMITS.turnsMax; turn++) {
    talk.progress = toProgress(draft);
    const message = { ...draft, messageId: terminal.newId() };
    await printResponses(talk, answerTo(talk, message, stream && talk.agent.streaming));
    if (talk.progress.state !== "input-required") return reportResult(talk);
    const answer = await askUser(terminal, talk);
    if (answer === null) return howToAnswer(talk);
    draft = { parts: [{ kind: "text", text: answer }], ...pick(talk) };
  }
  return reportResult(talk);
}

/** What is known before the agent has answered. */
const toProgress = ({ taskId }: { readonly taskId?: string }) => (taskId === undefined ? {} : { taskId });

const pick = ({ progress: { taskId, contextId } }: AgentSession) => ({
  ...(taskId !== undefined && { taskId }),
  ...(contextId !== undefined && { contextId }),
});

function answerTo(talk: AgentSession, draft: OutgoingMessage, stream: boolean): AsyncIterable<ReceivedResponse> {
  // It begins with nothing known, follow-up or not: a message that never arrived must not be taken for a lost stream.
  if (stream) return resumeStream(talk, talk.agent.stream(draft, talk.signal), "asked", {});
  return once(talk.agent.send(draft, talk.signal));
}

async function* once(received: Promise<ReceivedResponse>): AsyncGenerator<ReceivedResponse> {
  yield await received;
}

async function askUser(terminal: Terminal, talk: AgentSession): Promise<string | null> {
  if (!terminal.interactive || talk.json) return null;
  const answer = await terminal.ask("> ", talk.signal);
  return answer?.trim() ? answer : null;
}

function howToAnswer(talk: AgentSession): number {
  if (!talk.json) talk.output.note(`The agent waits for an answer: ${talk.hints.answer(talk.progress)}`);
  return EXIT.ok;
}
