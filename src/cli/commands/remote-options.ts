import { type Command, InvalidArgumentError } from "commander";

export { isAddress, type Remote, type RemoteFlags, toRemote } from "../terminal/target.ts";

/** For commands that call an agent. */
export const remoteOptions = (command: Command): Command =>
  serverOptions(
    command.option("--agent <name>", "name of the agent on this server (appends /agents/NAME to the URL)"),
  );

/** For commands that call a server and not one of its agents. */
export const serverOptions = (command: Command): Command =>
  command
    .option("--token <token>", "access token (default: the variable DRAGOMAN_TOKEN, for the local server)")
    .option("--header <line>", "HTTP header for every request, like 'X-Api-Key: …'; repeatable", addHeader)
    .option("--json", "print JSON");

function addHeader(line: string, others: Readonly<Record<string, string>> = {}): Record<string, string> {
  const found = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*?)\s*$/.exec(line);
  if (!found) throw new InvalidArgumentError("It must be like 'Name: value'.");
  return { ...others, [(found[1] as string).toLowerCase()]: found[2] as string };
}

/** For commands with `[url] <task>`: without a URL, the local server. */
export function splitTask(
  command: Command,
  first: string | undefined,
  second: string | undefined,
): { readonly url: string | undefined; readonly taskId: string } {
  if (second !== undefined) return { url: first, taskId: second };
  if (first === undefined || ADDRESS_ONLY.test(first))
    return command.error("error: missing required argument 'task'");
  return { url: undefined, taskId: first };
}

const ADDRESS_ONLY = /^https?:\/\//;
