import { type Command, InvalidArgumentError } from "commander";
import { type AgentAddress, parseAgentAddress } from "../../client/address.ts";

/** The target of a call. */
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

/** For commands that call an agent. */
export const remoteOptions = (command: Command): Command =>
  serverOptions(
    command.option("--agent <name>", "name of the agent on this server (appends /agents/NAME to the URL)"),
  );

/** For commands that call a server and not one of its agents. */
export const serverOptions = (command: Command): Command =>
  command
    .option(
      "--header <line>",
      "HTTP header for every request, like 'Authorization: Bearer …'; repeatable",
      addHeader,
    )
    .option("--json", "print JSON");

export const toRemote = (url: string, flags: RemoteFlags): Remote => ({
  target: parseAgentAddress(url, flags.agent),
  headers: flags.header ?? {},
  json: flags.json === true,
});

function addHeader(line: string, others: Readonly<Record<string, string>> = {}): Record<string, string> {
  const found = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*?)\s*$/.exec(line);
  if (!found) throw new InvalidArgumentError("It must be like 'Name: value'.");
  return { ...others, [(found[1] as string).toLowerCase()]: found[2] as string };
}
