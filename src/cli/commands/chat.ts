import type { Command } from "commander";
import type { Part } from "../../model/index.ts";
import { type CommandContext, EXIT } from "../command.ts";
import { CLI_LIMITS } from "../limits.ts";
import { SUMMARIES } from "../summaries.ts";
import { ClientError, describeError } from "../terminal/errors.ts";
import type { AgentSession } from "../terminal/session.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatCount } from "../terminal/text.ts";
import { isAddress, type RemoteFlags, remoteOptions, toRemote } from "./remote-options.ts";

interface ChatFlags extends RemoteFlags {
  readonly context?: string;
  readonly save?: string;
}

const EXAMPLES = `
Examples:
  dragoman chat                       the default agent of the local server
  dragoman chat booking               its agent booking
  dragoman chat https://agents.example/agents/reporter

In a chat, /file PATH adds a file to the next message, /new begins a new conversation, /quit or Ctrl-D ends.`;

export function define(program: Command, context: CommandContext): void {
  const command = program.command("chat [agent]").description(SUMMARIES.chat);
  remoteOptions(command)
    .option("--context <id>", "continue this context")
    .option("--save <folder>", "save files that the agent sends")
    .addHelpText("after", EXAMPLES)
    .action(async (word: string | undefined, flags: ChatFlags) => {
      const url = word !== undefined && isAddress(word) ? word : undefined;
      const agent = url === undefined && word !== undefined ? word : flags.agent;
      context.exitCode = await chat(context.terminal, url, {
        ...flags,
        ...(agent !== undefined && { agent }),
      });
    });
}

async function chat(terminal: Terminal, url: string | undefined, flags: ChatFlags): Promise<number> {
  if (!terminal.interactive)
    throw new ClientError(`A chat needs a terminal. In a script: ${terminal.program} call "hello"`);
  const { withSession } = await import("../terminal/session.ts");
  const options = { remote: toRemote(terminal, url, flags), saveFolder: flags.save };
  return withSession(terminal, options, async session => {
    session.output.note(
      `${session.agent.name}; /quit or Ctrl-D ends, /file PATH adds a file, /new starts anew`,
    );
    await talk(terminal, session, flags.context);
    return EXIT.ok;
  });
}

/** Messages of one conversation until the user ends it. */
async function talk(terminal: Terminal, session: AgentSession, context: string | undefined): Promise<void> {
  const { sendAndAnswer } = await import("../terminal/answering.ts");
  const { readAttachment } = await import("../terminal/files.ts");
  let contextId = context;
  let files: Part[] = [];
  for (let turn = 0; turn < CLI_LIMITS.turnsMax; turn++) {
    const line = await terminal.ask(
      files.length === 0 ? "you> " : `you (${formatCount(files.length, "file")})> `,
      session.signal,
    );
    if (line === null || line.trim() === "/quit") return;
    const [, name, rest = ""] = /^\/(\w+)\s*(.*)$/.exec(line.trim()) ?? [];
    try {
      if (name === "new") {
        contextId = undefined;
        session.output.note("a new conversation");
      } else if (name === "file") files.push(await readAttachment(rest, terminal.cwd));
      else if (name !== undefined) session.output.note("/file PATH, /new, /quit");
      else if (line.trim() !== "" || files.length > 0) {
        const text: Part[] = line.trim() === "" ? [] : [{ kind: "text", text: line }];
        const parts = [...text, ...files];
        files = [];
        await sendAndAnswer(
          terminal,
          session,
          { parts, ...(contextId !== undefined && { contextId }) },
          true,
        );
        contextId = session.progress.contextId ?? contextId;
      }
    } catch (error) {
      // A refused message does not end the conversation.
      if (session.signal.aborted || !(error instanceof ClientError)) throw error;
      session.output.alert(describeError(error));
    }
  }
}
