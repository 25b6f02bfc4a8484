/** Options on whom agents call, and on tools for and from others. */
import { z } from "zod";
import { LIMITS } from "../model/index.ts";
import { asJson, asList, asTruth, ms, type Option, whole } from "./option.ts";

export interface PeerOptions {
  readonly hopsMax: number;
  readonly callAllow: readonly string[];
  readonly mcp: boolean;
  readonly mcpWaitMs: number;
  readonly mcpServers: McpServers;
}
/** By the name under which agents ask for it: a program that is started, or an address. */
export type McpServers = Readonly<Record<string, McpProgram | McpAddress>>;
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

const texts = z.record(z.string(), z.string()).optional();
const PROGRAM = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: texts,
  cwd: z.string().min(1).optional(),
});
const ADDRESS = z.strictObject({ url: z.url({ protocol: /^https?$/ }), headers: texts });

export const PEER_OPTIONS: { readonly [K in keyof PeerOptions]: Option<PeerOptions[K]> } = {
  hopsMax: whole(0, 1_000, {
    about: "Servers that may pass a call on, one to another",
    fallback: LIMITS.hopsMax,
  }),
  callAllow: {
    about: "Addresses inside that ctx.call may call: hosts, addresses and networks",
    expected: "a list of hosts, addresses and networks",
    schema: z.array(z.string().regex(/^[^\s/]+(\/\d{1,3})?$/)),
    fallback: [],
    fromText: asList,
  },
  mcp: {
    about: "Offer the agents as tools to MCP clients, at /mcp",
    expected: "true or false",
    schema: z.boolean(),
    fallback: false,
    fromText: asTruth,
  },
  mcpWaitMs: ms(0, {
    about: "How long such a tool waits for its task before it answers with a handle",
    fallback: LIMITS.mcpWaitMs,
  }),
  mcpServers: {
    about: "MCP servers whose tools agents can use",
    expected: 'an object such as { files: { command: "npx", args: ["…"] }, search: { url: "https://…" } }',
    schema: z.record(z.string().min(1), z.union([PROGRAM, ADDRESS])),
    fallback: {},
    fromText: asJson,
  },
};
