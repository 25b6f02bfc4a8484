/** Which server and agent a command calls, from its arguments, flags and the environment. */
import { resolve } from "node:path";
import { type AgentAddress, isLoopback, parseAgentAddress } from "../../client/address.ts";
import { createGrpc } from "../../client/grpc/index.ts";
import type { AgentAccess } from "../../client/open.ts";
import { addressFiles, readAddress } from "../../server/address-file.ts";
import { quoteForShell, type Terminal } from "./terminal.ts";

/** The target of a call. */
export interface Remote {
  readonly target: AgentAddress;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: boolean;
  /** The words that name it, for commands that are shown to be copied; none: the local server. */
  readonly words: readonly string[];
}

export interface RemoteFlags {
  readonly agent?: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly token?: string;
  readonly json?: boolean;
}

const ADDRESS =
  /^(?:[a-z][a-z\d+.-]*:\/\/|(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:]+\])(?:[:/]|$)|[\w.-]+:\d{1,5}(?:\/|$))/i;

/** `http://host`, `host:2024`, `127.0.0.1`: a word that is an address and no text. */
export const isAddress = (word: string): boolean => ADDRESS.test(word);

type TargetTerminal = Pick<Terminal, "cwd" | "variable">;

/** `address`: undefined for the local server. */
export function toRemote(terminal: TargetTerminal, address: string | undefined, flags: RemoteFlags): Remote {
  const url = address ?? findLocalUrl(terminal);
  const target = parseAgentAddress(url, flags.agent);
  const words = [
    ...(address === undefined ? [] : [quoteForShell(address)]),
    ...(flags.agent === undefined ? [] : ["--agent", quoteForShell(flags.agent)]),
  ];
  return { target, headers: toHeaders(terminal, target.base, flags), json: flags.json === true, words };
}

const DEFAULT_PORT = 2024;

/** DRAGOMAN_URL, or the server that has its data in this folder or was started in it, or the default port. */
function findLocalUrl({ cwd, variable }: TargetTerminal): string {
  const folder = resolve(cwd, variable("DRAGOMAN_DATA") ?? ".dragoman");
  return (
    variable("DRAGOMAN_URL") ??
    readAddress(addressFiles(cwd, folder)) ??
    `http://127.0.0.1:${variable("DRAGOMAN_PORT") ?? DEFAULT_PORT}`
  );
}

function toHeaders(
  { variable }: TargetTerminal,
  base: string,
  { header = {}, token }: RemoteFlags,
): Readonly<Record<string, string>> {
  const secret = token ?? (isOwnServer(variable, base) ? variable("DRAGOMAN_TOKEN") : undefined);
  return secret === undefined || header.authorization !== undefined
    ? header
    : { ...header, authorization: `Bearer ${secret}` };
}

/** The token of the environment is not sent to servers of others. */
function isOwnServer(variable: TargetTerminal["variable"], base: string): boolean {
  const own = variable("DRAGOMAN_URL");
  return isLoopback(base) || (own !== undefined && URL.parse(own)?.origin === new URL(base).origin);
}

export const toAccess = (
  { fetch }: Pick<Terminal, "fetch">,
  { headers }: Pick<Remote, "headers">,
): AgentAccess => ({
  fetch,
  credentials: async () => headers,
  grpc: createGrpc,
});
