/** Finds the agent of a task on a server: users have the id of a task, and not always the name of its agent. */
import { parseAgentAddress } from "../../client/address.ts";
import { parseJson, readText, sendRequest, toHttpError } from "../../client/http.ts";
import { asList, asObject, asText } from "../../client/read.ts";
import type { JsonObject } from "../../lib/json.ts";
import { CLI_LIMITS } from "../limits.ts";
import { ClientError } from "./errors.ts";
import { type Remote, toAccess } from "./target.ts";
import type { Terminal } from "./terminal.ts";

type FetchTerminal = Pick<Terminal, "fetch">;

/** The names of the agents of a Dragoman server; undefined: the address is that of one agent, or of another server. */
export async function listAgents(
  terminal: FetchTerminal,
  remote: Remote,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const { base } = remote.target;
  if (remote.words.includes("--agent") || new URL(base).pathname !== "/" || remote.target.isCard)
    return undefined;
  const url = `${base}/agents`;
  const request = { method: "GET", url, headers: { accept: "application/json" } } as const;
  const response = await sendRequest(toAccess(terminal, remote), request, signal);
  const text = await readText(url, response);
  if (!response.ok) return undefined;
  const names = asList(asObject(parseJson(url, text)).agents).map(agent => asText(asObject(agent).name));
  return names.filter(name => name !== undefined).slice(0, CLI_LIMITS.agentsMax);
}

/** The address of one agent of the same server. */
export const toAgentRemote = (remote: Remote, agent: string): Remote => ({
  ...remote,
  target: parseAgentAddress(remote.target.base, agent),
  words: [...remote.words, "--agent", agent],
});

/** The agent that has this task. At an address that is not that of a whole server, the address itself. */
export async function findTaskRemote(
  terminal: FetchTerminal,
  remote: Remote,
  taskId: string,
  signal: AbortSignal,
): Promise<Remote> {
  const agents = await listAgents(terminal, remote, signal);
  if (agents === undefined) return remote;
  for (let at = 0; at < agents.length; at += CLI_LIMITS.parallelMax) {
    const candidates = agents.slice(at, at + CLI_LIMITS.parallelMax).map(name => toAgentRemote(remote, name));
    const found = await Promise.all(candidates.map(one => hasTask(terminal, one, taskId, signal)));
    const position = found.indexOf(true);
    if (position >= 0) return candidates[position] as Remote;
  }
  throw new ClientError(
    `Task ${taskId} not found at ${remote.target.base}, for this caller. List tasks with: npx dragoman tasks`,
  );
}

async function hasTask(
  terminal: FetchTerminal,
  remote: Remote,
  taskId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const url = remote.target.base;
  const call = { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: taskId, historyLength: 0 } };
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  const request = { method: "POST", url, headers, body: JSON.stringify(call) } as const;
  const response = await sendRequest(toAccess(terminal, remote), request, signal);
  const text = await readText(url, response);
  // A caller that is not let in does not learn whether the task exists: the task is not the problem.
  if (response.status === 401 || response.status === 429) throw toHttpError(url, response, text);
  return response.ok && (asObject(parseJson(url, text)) as JsonObject).result !== undefined;
}
