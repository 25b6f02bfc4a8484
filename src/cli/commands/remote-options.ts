import { type Command, InvalidArgumentError } from "commander";
import { type AgentAddress, parseAgentAddress } from "../../client/address.ts";

/** Which agent, and with what headers: the same for all commands that call one. */
export interface Remote {
  readonly target: AgentAddress;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: boolean;
}

export interface RemoteFlags {
  readonly agent?: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly json?: boolean;
}

export const remoteOptions = (command: Command): Command =>
  serverOptions(
    command.option(
      "--agent <name>",
      "the agent of that name on this server (adds /agents/NAME to the address)",
    ),
  );

/** The same for commands that ask a server and not one of its agents. */
export function serverOptions(command: Command): Command {
  return command
    .option(
      "--header <line>",
      "a header for every call, like 'Authorization: Bearer …'; repeatable",
      addHeader,
    )
    .option("--json", "print JSON for programs");
}

export const toRemote = (url: string, flags: RemoteFlags): Remote => ({
  target: parseAgentAddress(url, flags.agent),
  headers: flags.header ?? {},
  json: flags.json === true,
});

function addHeader(line: string, others: Readonly<Record<string, string>> = {}): Record<string, string> {
  const found = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*?)\s*$/.exec(line);
  if (!found) throw new InvalidArgumentError("Write it like 'Name: value'.");
  return { ...others, [(found[1] as string).toLowerCase()]: found[2] as string };
}

/** A whole number from 1 up, or a message that says so. */
export function toCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError("It must be a whole number, 1 or more.");
}

export function toSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && seconds > 0 && seconds < 2_000_000) return seconds;
  throw new InvalidArgumentError("It must be a number of seconds, more than 0.");
}
