import type { Command } from "commander";
import type { CommandContext } from "../command.ts";
import { SERVE_HELP, serveOptions } from "../serve/options.ts";

const EXAMPLES = `
Examples:
  dragoman serve                                       the bundled examples
  dragoman serve agents/*.ts --port 3000 --data ./tasks
  dragoman serve echo.ts --host 0.0.0.0 --auth tokens --public-url https://agents.example --trust-proxy
${SERVE_HELP}

SIGTERM and Ctrl-C stop it well: no new work, runs finish or are kept for the next start. A second one stops it at once.`;

export function define(program: Command, session: CommandContext): void {
  serveOptions(program.command("serve").description("Serve agents"))
    .addHelpText("after", EXAMPLES)
    .action(async (files: string[], flags: Record<string, unknown>) => {
      const { serveAgents, toServeOptions } = await import("../serve/serve-agents.ts");
      const { startServer } = await import("../../server/create-server.ts");
      session.exitCode = await serveAgents(session, toServeOptions(files, flags, false), startServer);
    });
}
