import type { Command } from "commander";
import type { Json } from "../../lib/json.ts";
import type { Part } from "../../model/index.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { SUMMARIES } from "../summaries.ts";
import { ClientError, messageOf } from "../terminal/errors.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { toSeconds } from "./arguments.ts";
import { isAddress, type RemoteFlags, remoteOptions, toRemote } from "./remote-options.ts";

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
  dragoman call "hello"                                     the local server
  dragoman call --agent booking "a table for two"
  dragoman call https://agents.example/agents/reporter "last week" --save reports
  cat question.txt | dragoman call -

The exit code is 0, 3 if the task failed, was rejected or canceled, 4 if the agent asked and the command could not
answer, or 1 if the call failed.`;

export function define(program: Command, context: CommandContext): void {
  const command = program.command("call [url] [text...]").description(SUMMARIES.call);
  remoteOptions(command)
    .option("--context <id>", "continue this context")
    .option("--task <id>", "answer the question of this task")
    .option("--data <json>", "add a data part")
    .option("--file <path>", "add a file; repeatable", (path, others: string[] = []) => [...others, path])
    .option("--save <folder>", "save files that the agent sends")
    .option("--no-stream", "do not stream; wait for the whole response")
    .option("--timeout <seconds>", "stop waiting after this time; the task continues", toSeconds)
    .addHelpText("after", EXAMPLES)
    .action(async (first: string | undefined, words: string[], flags: CallFlags) => {
      const url = first !== undefined && isAddress(first) ? first : undefined;
      const text = url === undefined && first !== undefined ? [first, ...words] : words;
      context.exitCode = await call(context.terminal, url, text, flags);
    });
}

async function call(
  terminal: Terminal,
  url: string | undefined,
  words: readonly string[],
  flags: CallFlags,
): Promise<number> {
  const { sendAndAnswer } = await import("../terminal/answering.ts");
  const { reportResult, withSession } = await import("../terminal/session.ts");
  const draft = {
    parts: await readParts(terminal, words, flags),
    ...(flags.task !== undefined && { taskId: flags.task }),
    ...(flags.context !== undefined && { contextId: flags.context }),
  };
  const options = {
    remote: toRemote(terminal, url, flags),
    saveFolder: flags.save,
    timeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
    taskId: flags.task,
  };
  return withSession(terminal, options, async session => {
    const end = await sendAndAnswer(terminal, session, draft, flags.stream);
    if (end === "ended") return reportResult(session);
    const { hints, json, output, progress } = session;
    if (!json) output.note(`The agent waits for an answer: ${hints.answer(progress, session.question)}`);
    return EXIT.asked;
  });
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
  const { readAttachment } = await import("../terminal/files.ts");
  for (const path of flags.file ?? []) parts.push(await readAttachment(path, terminal.cwd));
  if (parts.length === 0)
    throw new ClientError(`The message is empty. Example: ${terminal.program} call "hello"`);
  return parts;
}

function parseData(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new ClientError(`--data is not JSON: ${messageOf(error)}`);
  }
}
