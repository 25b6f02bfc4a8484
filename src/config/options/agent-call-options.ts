import { LIMITS, type OAuthProviders } from "../../model/index.ts";
import { boolean, integer, list, milliseconds, structured } from "./option.ts";

/** By the name under which agents use it: a program that is started, or a URL. */
export type McpServerConfigs = Readonly<Record<string, McpProgram | McpAddress>>;
export interface McpProgram {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}
export interface McpAddress {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export const AGENT_CALL_OPTIONS = {
  hopsMax: integer({
    help: "Servers that may forward a call, one to another",
    default: LIMITS.hopsMax,
    min: 0,
    max: 1_000,
    placeholder: "count",
  }),
  callAllow: list({
    help: "Private hosts, addresses and networks that ctx.call may call",
    default: [],
    expected: "a list of hosts, addresses and networks",
    isValid: entry => /^[^\s/]+(\/\d{1,3})?$/.test(entry),
  }),
  oauth: structured<OAuthProviders | undefined>({
    help: "OAuth 2 providers with which callers can authorize agents, by name",
    isSecret: true,
    default: undefined,
    expected: "an object such as { github: { authorizationUrl, tokenUrl, clientId, clientSecret, scopes } }",
  }),
  mcp: boolean({ help: "Offer the agents as tools to MCP clients, at /mcp", default: false }),
  mcpWaitMs: milliseconds(0, {
    help: "Time that an MCP tool call waits for its task before it returns a handle",
    default: LIMITS.mcpWaitMs,
  }),
  mcpServers: structured<McpServerConfigs>({
    help: "MCP servers whose tools agents can use, by name",
    default: {},
    expected: 'an object such as { files: { command: "npx", args: ["…"] }, search: { url: "https://…" } }',
  }),
};
