import type { Command } from "commander";
import type { CommandContext } from "../command.ts";
import { SERVE_HELP, serveOptions } from "../serve/options.ts";
import { SUMMARIES } from "../summaries.ts";

const EXAMPLES = `
Examples:
  dragoman dev my-agent.ts
  dragoman dev agents/*.ts --log-level debug
${SERVE_HELP}

Options other than agents and default take effect at the next start.`;

export function define(program: Command, context: CommandContext): void {
  serveOptions(program.command("dev").description(SUMMARIES.dev))
    .addHelpText("after", EXAMPLES)
    .action(async (files: string[], flags: Record<string, unknown>) => {
      const { serveAgents, toServeOptions } = await import("../serve/serve-agents.ts");
      const { startServer } = await import("../../server/create-server.ts");
      context.exitCode = await serveAgents(
        context,
        toServeOptions(files, { pushAllowLoopback: true, ...flags }, true),
        startServer,
      );
    });
}
