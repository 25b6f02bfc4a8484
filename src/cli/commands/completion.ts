import { Argument, type Command, type Option } from "commander";
import { type CommandContext, EXIT } from "../command.ts";
import { SUMMARIES } from "../summaries.ts";

const EXAMPLES = `
Examples:
  dragoman completion bash >> ~/.bashrc
  dragoman completion zsh > ~/.zfunc/_dragoman        a folder in fpath
  dragoman completion fish > ~/.config/fish/completions/dragoman.fish`;

const SHELLS = { bash: toBash, zsh: toZsh, fish: toFish } as const;

export function define(program: Command, context: CommandContext): void {
  program
    .command("completion")
    .description(SUMMARIES.completion)
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SHELLS)))
    .addHelpText("after", EXAMPLES)
    .action((shell: keyof typeof SHELLS) => {
      context.terminal.out.write(SHELLS[shell](listCommands(program)));
      context.exitCode = EXIT.ok;
    });
}

interface CompletedCommand {
  /** `push`, `push redeliver` */
  readonly path: readonly string[];
  readonly description: string;
  readonly options: readonly Option[];
  readonly commands: readonly string[];
}

function listCommands(program: Command): readonly CompletedCommand[] {
  const visit = (command: Command, path: readonly string[]): readonly CompletedCommand[] => [
    {
      path,
      description: command.description(),
      options: command.options.filter(option => !option.hidden && option.long),
      commands: command.commands.map(one => one.name()),
    },
    ...command.commands.flatMap(one => visit(one, [...path, one.name()])),
  ];
  return program.commands.flatMap(command => visit(command, [command.name()]));
}

const top = (commands: readonly CompletedCommand[]): readonly CompletedCommand[] =>
  commands.filter(({ path }) => path.length === 1);
const below = (commands: readonly CompletedCommand[]): readonly CompletedCommand[] =>
  commands.toSorted((one, other) => other.path.length - one.path.length);
const longsOf = ({ options }: CompletedCommand): readonly string[] =>
  options.map(option => option.long as string);

/** Where no word fits, names of files are completed. */
function toBash(commands: readonly CompletedCommand[]): string {
  const cases = below(commands).map(
    command =>
      `    "${command.path.join(" ")}"*) words="${[...command.commands, ...longsOf(command), "--help"].join(" ")}" ;;`,
  );
  return `# dragoman completion for bash
_dragoman() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${top(commands)
      .map(({ path }) => path[0])
      .join(" ")} --help --version" -- "$current"))
    return
  fi
  line="\${COMP_WORDS[*]:1:COMP_CWORD-1}"
  case "$line" in
${cases.join("\n")}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _dragoman dragoman
`;
}

/** Single quotes, for zsh and fish: both take '\\'' as a quote. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
/** Brackets and colons separate the parts of a specification. */
const zshText = (text: string): string => text.replace(/[[\]:\\]/g, "\\$&");

function toZsh(commands: readonly CompletedCommand[]): string {
  const names = top(commands).map(
    ({ path, description }) => `    ${quote(`${path[0]}:${zshText(description)}`)}`,
  );
  const cases = below(commands).map(command => {
    const flags = command.options.map(
      option =>
        `        ${quote(`${option.long}[${zshText(option.description)}]${option.required ? ":value:_files" : ""}`)}`,
    );
    const words =
      command.commands.length > 0 ? [`        ${quote(`1:command:(${command.commands.join(" ")})`)}`] : [];
    return `    ${quote(command.path.join(" "))}*)
      _arguments \\
${[...flags, ...words, "        '*:file:_files'"].join(" \\\n")}
      ;;`;
  });
  return `#compdef dragoman
_dragoman() {
  local -a commands
  commands=(
${names.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local line="\${words[2,CURRENT-1]}"
  shift words
  (( CURRENT-- ))
  case "$line" in
${cases.join("\n")}
  esac
}
_dragoman "$@"
`;
}

function toFish(commands: readonly CompletedCommand[]): string {
  const lines = ["# dragoman completion for fish"];
  for (const { path, description } of top(commands))
    lines.push(`complete -c dragoman -n __fish_use_subcommand -a ${path[0]} -d ${quote(description)}`);
  for (const { path, options, commands: inner } of commands) {
    const seen = path.map(name => `__fish_seen_subcommand_from ${name}`);
    // The flags of `tasks` are not those of `tasks purge`.
    const unseen = inner.length > 0 ? [`not __fish_seen_subcommand_from ${inner.join(" ")}`] : [];
    const condition = quote([...seen, ...unseen].join("; and "));
    for (const name of inner) lines.push(`complete -c dragoman -n ${condition} -a ${name}`);
    for (const option of options)
      lines.push(
        `complete -c dragoman -n ${condition} -l ${(option.long as string).slice(2)}${option.required ? " -r" : ""} -d ${quote(option.description)}`,
      );
  }
  return `${lines.join("\n")}\n`;
}
