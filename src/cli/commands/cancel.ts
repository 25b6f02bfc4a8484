import type { Command } from "commander";
import { EXIT, type CommandContext } from "../command.ts";
import { withSession } from "../terminal/session.ts";
import { type RemoteFlags, remoteOptions, toRemote } from "./remote-options.ts";

const EXAMPLES = `
Example:
  dragoman cancel http://127.0.0.1:2024 0199a1b2-…`;

export function define(program: Command, session: CommandContext): void {
  const command = program.command("cancel <url> <task>").description("Ask for the end of a task");
  remoteOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(async (url: string, taskId: string, flags: RemoteFlags) => {
      const wish = { remote: toRemote(url, flags), history: false };
      session.exitCode = await withSession(session.terminal, wish, async ({ agent, output, signal, json }) => {
        output.startWaiting(`waiting for ${agent.name} to stop`);
        const { task, raw } = await agent.cancel({ taskId }, signal);
        if (json) output.json(raw);
        else output.line(`task ${task.id} ${task.state}`);
        return EXIT.ok;
      });
    });
}
