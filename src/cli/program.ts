import { Command, CommanderError } from "commander";
import { type CommandFile, EXIT, type CommandContext } from "./command.ts";
import { describeError } from "./terminal/errors.ts";
import { paint, type Terminal } from "./terminal/terminal.ts";

const ABOUT = `
First steps:
  dragoman serve                                serve the example agents and show their addresses
  dragoman dev my-agent.ts                      serve an agent of yours and reload it when it changes
  dragoman call http://127.0.0.1:2024 "hello"   talk to an agent

More about a command: dragoman COMMAND --help`;

/** One start of the program, from arguments to exit code. */
export async function run(
  words: readonly string[],
  commands: readonly CommandFile[],
  terminal: Terminal,
): Promise<number> {
  const session: CommandContext = { terminal, exitCode: EXIT.ok, debug: false };
  try {
    await createProgram(commands, session).parseAsync(words, { from: "user" });
    return session.exitCode;
  } catch (error) {
    // Help, version and wrong words have been written by then.
    if (error instanceof CommanderError) return error.exitCode;
    terminal.err.write(`${describe(terminal, error, session.debug)}\n`);
    return EXIT.error;
  }
}

function createProgram(commands: readonly CommandFile[], session: CommandContext): Command {
  const { terminal } = session;
  const program = new Command("dragoman")
    .description("Serve agents to every A2A client, and talk to any A2A agent")
    .version(terminal.version, "-V, --version")
    .configureOutput({
      writeOut: text => terminal.out.write(text),
      writeErr: text => terminal.err.write(text),
      getOutHelpWidth: () => terminal.out.columns,
      getErrHelpWidth: () => terminal.err.columns,
      getOutHasColors: () => terminal.out.colour,
      getErrHasColors: () => terminal.err.colour,
    })
    // Flags belong to the command before them: `tasks purge --agent` is not `tasks --agent`.
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .showHelpAfterError("See what there is: add --help")
    .addHelpText("after", ABOUT)
    .exitOverride();
  // Commands that are added from here on inherit all of this.
  for (const command of commands) command.define(program, session);
  return program;
}

function describe(terminal: Terminal, error: unknown, debug: boolean): string {
  const text = debug && error instanceof Error ? (error.stack ?? error.message) : describeError(error);
  return `${paint(terminal.err, "red", "error:")} ${text}`;
}
