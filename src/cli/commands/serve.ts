import type { Command } from "commander";
import type { CommandContext } from "../command.ts";
import { SERVE_HELP, serveOptions } from "../serve/options.ts";
import { SUMMARIES } from "../summaries.ts";

const EXAMPLES = `
Examples:
  dragoman serve                                       the bundled examples
  dragoman serve agents/*.ts --port 3000 --data ./tasks
  dragoman serve echo.ts --host 0.0.0.0 --auth tokens --public-url https://agents.example --trust-proxy
${SERVE_HELP}

SIGTERM and Ctrl-C stop the server: it rejects new requests, runs finish or continue at the next start. A second signal
ends the process at once.`;

export function define(program: Command, context: CommandContext): void {
  serveOptions(program.command("serve").description(SUMMARIES.serve))
    .addHelpText("after", EXAMPLES)
    .action(async (files: string[], flags: Record<string, unknown>) => {
      const { serveAgents, toServeOptions } = await import("../serve/serve-agents.ts");
      const { startServer } = await import("../../server/create-server.ts");
      context.exitCode = await serveAgents(context, toServeOptions(files, flags, false), startServer);
    });
}
