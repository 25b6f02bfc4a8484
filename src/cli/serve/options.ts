/** The flags of `serve` and `dev`, from the table of options. Their values are checked with those of file and environment. */
import { type Command, Option } from "commander";
import { flagName, getOption, OPTION_GROUPS, type OptionName } from "../../config/options/index.ts";

export const SERVE_HELP = `
Every option can also be set in dragoman.config.ts (publicUrl: "…") and in the environment (DRAGOMAN_PUBLIC_URL=…).
Flags override the environment, the environment overrides the file.`;

export function serveOptions(command: Command): Command {
  command.argument(
    "[files...]",
    "agent files, globs or folders (default: those of dragoman.config.ts, langgraph.json or agents/; in an empty folder, the bundled examples)",
  );
  command.option("--config <file>", "config file (default: dragoman.config.ts, if it exists)");
  command.option("--json", "print the start as one line of JSON");
  command.option("--verbose", "also print the addresses of cards, assistants and gRPC");
  for (const { title, names } of OPTION_GROUPS)
    for (const option of names.flatMap(toFlags)) command.addOption(option.helpGroup(`${title}:`));
  return command;
}

function toFlags(name: OptionName): readonly Option[] {
  const { help, placeholder, choices, formerly, isFlag } = getOption(name);
  if (!isFlag) return [];
  const flag = flagName(name);
  const value = placeholder === undefined ? "" : ` <${placeholder}>`;
  // Acronyms and names keep their capital.
  const text = help
    .replaceAll("`", "")
    .replace(/^[A-Z](?=[a-z])(?!\w*[A-Z])/, letter => letter.toLowerCase());
  const option = new Option(`${flag}${value}`, `${text}${describeDefault(name)}`);
  const flags = [choices ? option.choices(choices) : option];
  if (placeholder === undefined)
    flags.push(new Option(`--no-${flag.slice(2)}`, `override file and environment: no ${flag}`));
  if (formerly !== undefined) flags.push(new Option(`${flagName(formerly)}${value}`).hideHelp());
  return flags;
}

function describeDefault(name: OptionName): string {
  const { default: value, defaultText, placeholder } = getOption(name);
  if (defaultText !== undefined) return ` (default: ${defaultText})`;
  if (placeholder === undefined) return value === true ? " (default)" : "";
  if (value === undefined || value === "") return "";
  const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return isEmpty ? "" : ` (default: ${String(value)})`;
}
