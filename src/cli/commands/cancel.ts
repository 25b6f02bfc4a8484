import type { Command } from "commander";
import { type CommandContext, EXIT } from "../command.ts";
import { withSession } from "../terminal/session.ts";
import { type RemoteFlags, remoteOptions, toRemote } from "./remote-options.ts";

const EXAMPLES = `
Example:
  dragoman cancel http://127.0.0.1:2024 0199a1b2-…`;

export function define(program: Command, context: CommandContext): void {
  const command = program.command("cancel <url> <task>").description("Cancel a task");
  remoteOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, taskId: string, flags: RemoteFlags) => {
      const options = { remote: toRemote(url, flags) };
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
