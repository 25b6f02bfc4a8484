import { relative, resolve } from "node:path";
import { type Command, Option } from "commander";
import { type CommandContext, EXIT } from "../command.ts";
import { TEMPLATE_NAMES, TEMPLATES, type TemplateName } from "../init/templates.ts";
import { SUMMARIES } from "../summaries.ts";
import { createOutput } from "../terminal/output.ts";
import { quoteForShell, type Terminal } from "../terminal/terminal.ts";

interface InitFlags {
  readonly template: TemplateName;
  readonly json?: boolean;
}

const LIST = TEMPLATE_NAMES.map(name => `  ${name.padEnd(12)}${TEMPLATES[name].description}`).join("\n");
const EXAMPLES = `
Templates:
${LIST}

Examples:
  dragoman init                              in this folder
  dragoman init my-agent --template langgraph`;

export function define(program: Command, context: CommandContext): void {
  program
    .command("init [folder]")
    .description(SUMMARIES.init)
    .addOption(
      new Option("--template <name>", "what to start with (default: function)")
        .choices(TEMPLATE_NAMES)
        .default("function", "function"),
    )
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (folder: string | undefined, flags: InitFlags) => {
      context.exitCode = await init(context.terminal, folder ?? ".", flags);
    });
}

async function init(terminal: Terminal, name: string, { template, json }: InitFlags): Promise<number> {
  const { createProject } = await import("../init/create-project.ts");
  const folder = resolve(terminal.cwd, name);
  const { files, clone } = createProject({ root: terminal.root, folder, template });
  const output = createOutput(terminal);
  const steps = [
    ...(folder === terminal.cwd ? [] : [`cd ${quoteForShell(relative(terminal.cwd, folder))}`]),
    ...(clone === undefined ? [] : [`npm run build --prefix ${quoteForShell(clone)}`]),
    "npm install",
    "npm run dev",
  ];
  if (json) output.json({ folder, template, files: [...files], next: steps });
  else {
    for (const file of files) output.line(`created ${file}`);
    output.line("");
    output.line("Next:");
    for (const step of steps) output.line(`  ${step}`);
    output.line("Then, in another terminal in that folder: npx dragoman chat");
  }
  return EXIT.ok;
}
