import { Command, CommanderError } from "commander";
import { type CommandContext, type CommandFile, EXIT } from "./command.ts";
import { describeError } from "./terminal/errors.ts";
import { paint, type Terminal } from "./terminal/terminal.ts";

const ABOUT = `
First steps:
  dragoman serve                  serve the agents of this folder, or the examples, and print their URLs
  dragoman dev my-agent.ts        serve your agent and reload it when its file changes
  dragoman call "hello"           send a message to it

Help for a command: dragoman COMMAND --help`;

/** One start of the program, from arguments to exit code. */
export async function run(
  argv: readonly string[],
  commands: readonly CommandFile[],
  terminal: Terminal,
): Promise<number> {
  const context: CommandContext = { terminal, exitCode: EXIT.ok, debug: false };
  try {
    await createProgram(commands, context).parseAsync(argv, { from: "user" });
    return context.exitCode;
  } catch (error) {
    // commander has written help, version or usage errors itself.
    if (error instanceof CommanderError) return error.exitCode;
    const text =
      context.debug && error instanceof Error ? (error.stack ?? error.message) : describeError(error);
    terminal.err.write(`${paint(terminal.err, "red", "error:")} ${text}\n`);
    return EXIT.error;
  }
}

function createProgram(commands: readonly CommandFile[], context: CommandContext): Command {
  const { terminal } = context;
  const program = new Command("dragoman")
    .description("Serve agents to any A2A client, and call any A2A agent")
    .version(terminal.version, "-V, --version")
    .configureOutput({
      writeOut: text => terminal.out.write(withProgram(text, terminal.program)),
      writeErr: text => terminal.err.write(withProgram(text, terminal.program)),
      getOutHelpWidth: () => terminal.out.columns,
      getErrHelpWidth: () => terminal.err.columns,
      getOutHasColors: () => terminal.out.colour,
      getErrHasColors: () => terminal.err.colour,
    })
    // Flags belong to the command before them: `tasks purge --agent` is not `tasks --agent`.
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .showHelpAfterError("Add --help for usage.")
    .addHelpText("after", ABOUT)
    .exitOverride();
  program.configureHelp({ subcommandTerm: command => command.name() });
  // Only commands that are added now inherit these settings.
  for (const command of commands) command.define(program, context);
  return program;
}

/** Examples and usage are written with the command that works here: `npx dragoman`, or `dragoman` alone. */
const withProgram = (text: string, program: string): string =>
  program === "dragoman" ? text : text.replace(/^((?:Usage: | +|.*: |.*\| ))dragoman(?= )/gm, `$1${program}`);
