import type { Command } from "commander";
import type { CommandContext } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";

const EXAMPLES = `
Example:
  dragoman demo

It needs no network and no model, takes about ten seconds, and leaves nothing behind. The exit code is 0 if everything
that it shows is true.`;

export function define(program: Command, context: CommandContext): void {
  program
    .command("demo")
    .description(SUMMARIES.demo)
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(async ({ json }: { readonly json?: boolean }) => {
      const { runDemo } = await import("../demo/run-demo.ts");
      context.exitCode = await runDemo(context.terminal, json === true);
    });
}
