/**
 * The one table of options. Flags and help of `serve` and `dev`, variables, the check of config files, the types
 * `OptionValues` and `Config`, and docs/reference/config.md follow from it. It does not load zod: every command reads it.
 */
import type { AgentDefinition } from "../../agent/definition.ts";
import type { AgentSource } from "../../loader/load-agents.ts";
import type { AgentEntry } from "../../runtime/entries.ts";
import { ACCESS_OPTIONS } from "./access-options.ts";
import { AGENT_CALL_OPTIONS } from "./agent-call-options.ts";
import { ITEM_OPTIONS } from "./item-options.ts";
import { KEY_OPTIONS } from "./key-options.ts";
import { LIMIT_OPTIONS } from "./limit-options.ts";
import { listFromText, type Option } from "./option.ts";
import { PUSH_OPTIONS } from "./push-options.ts";
import { SERVER_OPTIONS } from "./server-options.ts";
import { TELEMETRY_OPTIONS } from "./telemetry-options.ts";

export type { AgentEntry } from "../../runtime/entries.ts";
export type { Option } from "./option.ts";

const isAgentSource = (value: unknown): boolean =>
  typeof value === "string" ? value !== "" : typeof value === "object" && value !== null;

/** On the command line, the words without a flag. */
const agents: Option<readonly AgentSource[], readonly (string | AgentDefinition | AgentEntry)[]> = {
  help: "Agent files, globs and folders",
  expected: "a list of file names, globs, folders and agents",
  default: [],
  defaultText: "the folder agents/; in an empty folder, the bundled examples",
  placeholder: "files",
  isFlag: false,
  isSecret: false,
  isPath: false,
  fromText: listFromText,
  parse: value => (Array.isArray(value) && value.every(isAgentSource) ? value : undefined),
};

export const OPTIONS = {
  agents,
  ...SERVER_OPTIONS,
  ...ACCESS_OPTIONS,
  ...LIMIT_OPTIONS,
  ...PUSH_OPTIONS,
  ...TELEMETRY_OPTIONS,
  ...KEY_OPTIONS,
  ...AGENT_CALL_OPTIONS,
  ...ITEM_OPTIONS,
};

type Table = typeof OPTIONS;
export type OptionName = keyof Table;
/** The value of every option. */
export type OptionValues = { readonly [K in OptionName]: Table[K]["default"] };
/** The options that a config file may contain. */
export type OptionInputs = { readonly [K in OptionName]?: Table[K]["input"] | undefined };

/** The options that schemas.ts checks. */
export type StructuredOption = {
  [K in OptionName]: Table[K] extends { readonly parse: "schema" } ? K : never;
}[OptionName];

export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[];
export const getOption = (name: OptionName): Option<unknown> => OPTIONS[name] as Option<unknown>;

/** The groups of the help, in its order. */
export const OPTION_GROUPS: readonly { readonly title: string; readonly names: readonly OptionName[] }[] = [
  { title: "Server", names: namesOf(SERVER_OPTIONS) },
  { title: "Authentication and access", names: namesOf(ACCESS_OPTIONS) },
  { title: "Limits", names: namesOf(LIMIT_OPTIONS) },
  { title: "Webhooks", names: namesOf(PUSH_OPTIONS) },
  { title: "Logs, metrics and health", names: namesOf(TELEMETRY_OPTIONS) },
  { title: "Keys", names: namesOf(KEY_OPTIONS) },
  { title: "Calls to other agents and tools", names: namesOf(AGENT_CALL_OPTIONS) },
  { title: "Long-term memory", names: namesOf(ITEM_OPTIONS) },
];

function namesOf(group: object): readonly OptionName[] {
  return Object.keys(group) as OptionName[];
}

/** Former names, and the options that they mean. */
export const RENAMED: Readonly<Record<string, OptionName>> = Object.fromEntries(
  OPTION_NAMES.flatMap(name => {
    const { formerly } = getOption(name);
    return formerly === undefined ? [] : [[formerly, name]];
  }),
);

/** `publicUrl` as a variable: DRAGOMAN_PUBLIC_URL. */
export const envName = (option: string): string =>
  `DRAGOMAN_${toKebabCase(option).replaceAll("-", "_").toUpperCase()}`;
/** `publicUrl` on the command line: --public-url. */
export const flagName = (option: string): string => `--${toKebabCase(option)}`;
const toKebabCase = (option: string): string =>
  option.replace(/[A-Z]/g, capital => `-${capital.toLowerCase()}`);
