import type { Command } from "commander";
import { type CommandContext, EXIT } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";
import { type RemoteFlags, remoteOptions, splitTask, toRemote } from "./remote-options.ts";

const EXAMPLES = `
Examples:
  dragoman cancel 0199a1b2-…                          a task of the local server
  dragoman cancel https://agents.example 0199a1b2-…`;

export function define(program: Command, context: CommandContext): void {
  const command = program.command("cancel [url] [task]").description(SUMMARIES.cancel);
  remoteOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (first: string | undefined, second: string | undefined, flags: RemoteFlags) => {
      const { url, taskId } = splitTask(command, first, second);
      const { withSession } = await import("../terminal/session.ts");
      const options = { remote: toRemote(context.terminal, url, flags), taskId };
      context.exitCode = await withSession(
        context.terminal,
        options,
        async ({ agent, output, signal, json }) => {
          output.startWaiting(`waiting for ${agent.name} to stop`);
          const { task, raw } = await agent.cancel({ taskId }, signal);
          if (json) output.json(raw);
          else output.line(`task ${task.id} ${task.state}`);
          return EXIT.ok;
        },
      );
    });
}
