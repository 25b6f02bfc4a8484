/** MCP servers of the option `mcpServers`: their tools, for agents. */
import type { Client } from "@modelcontextprotocol/client";
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import { loadOptionalPackage } from "../lib/optional-package.ts";
import { LIMITS } from "../model/index.ts";
import type { Fetch, Log, McpResult, McpServer, McpServerProvider, McpTool } from "../ports/index.ts";

/** A program with MCP on its standard streams, or a URL. */
export type McpTarget =
  | {
      readonly command: string;
      readonly args?: readonly string[] | undefined;
      readonly env?: Readonly<Record<string, string>> | undefined;
      readonly cwd?: string | undefined;
    }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> | undefined };

export interface McpClientsParts {
  readonly servers: Readonly<Record<string, McpTarget>>;
  /** For URLs: the operator chose them. */
  readonly fetch: Fetch;
  readonly version: () => string;
  readonly log: Log;
}

export interface McpClients {
  readonly open: McpServerProvider;
  /** Closes all connections and stops the programs. */
  close(): Promise<void>;
}

/** One connection for each server: opened on first use, shared by all runs, and opened again when it is lost. */
export function createMcpClients(parts: McpClientsParts): McpClients {
  const opened = new Map<string, Promise<Client>>();

  async function connect(name: string, target: McpTarget): Promise<Client> {
    const library = await loadOptionalPackage(
      "@modelcontextprotocol/client",
      "ctx.mcp",
      () => import("@modelcontextprotocol/client"),
    );
    const client = new library.Client(
      { name: "dragoman", version: parts.version() },
      { versionNegotiation: { mode: "auto" } },
    );
    client.onclose = () => {
      opened.delete(name);
    };
    client.onerror = error =>
      parts.log.warn({ server: name, err: error }, "the connection to an MCP server failed");
    await client.connect(await toTransport(library, name, target), { timeout: LIMITS.mcpConnectMs });
    return client;
  }

  async function toTransport(
    library: typeof import("@modelcontextprotocol/client"),
    name: string,
    target: McpTarget,
  ) {
    if ("url" in target)
      return new library.StreamableHTTPClientTransport(new URL(target.url), {
        fetch: (url, init) => parts.fetch(url, init),
        ...(target.headers && { requestInit: { headers: target.headers } }),
      });
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const { command, args = [], env, cwd } = target;
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      stderr: "pipe",
      ...(env && { env: { ...env } }),
      ...(cwd !== undefined && { cwd }),
    });
    transport.stderr?.on("data", (text: Buffer) =>
      parts.log.info({ server: name }, String(text).trimEnd().slice(0, LIMITS.mcpLogCharsMax)),
    );
    return transport;
  }

  function open(name: string): Promise<Client> {
    const target = Object.hasOwn(parts.servers, name) ? parts.servers[name] : undefined;
    if (!target) {
      const names = Object.keys(parts.servers).join(", ") || "none";
      throw new Error(`Unknown MCP server "${name}"; the option mcpServers has: ${names}`);
    }
    const existing = opened.get(name);
    if (existing) return existing;
    const client = connect(name, target);
    opened.set(name, client);
    client.catch(() => opened.delete(name));
    return client;
  }

  return {
    open: async name => toServer(await open(name)),
    async close() {
      const clients = await Promise.allSettled(opened.values());
      await Promise.allSettled(
        clients.map(client => (client.status === "fulfilled" ? client.value.close() : undefined)),
      );
    },
  };
}

const toServer = (client: Client): McpServer => ({
  async listTools(signal) {
    const tools: McpTool[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor }, { signal });
      tools.push(...page.tools.map(toTool));
      cursor = page.nextCursor;
    } while (cursor !== undefined && tools.length < LIMITS.mcpToolsMax);
    return tools;
  },
  async callTool(name, input, signal) {
    // The run that calls a tool has its own time limits and aborts the signal.
    const options = { signal, timeout: LIMITS.mcpCallMs, resetTimeoutOnProgress: true };
    return toResult(await client.callTool({ name, arguments: { ...input } }, options));
  },
});

const toTool = ({
  name,
  description,
  inputSchema,
}: {
  name: string;
  description?: string | undefined;
  inputSchema: object;
}): McpTool => ({
  name,
  ...(description !== undefined && { description }),
  inputSchema: inputSchema as JsonObject,
});

function toResult(result: object): McpResult {
  const { content, structuredContent, isError } = result as {
    readonly content?: readonly JsonObject[];
    readonly structuredContent?: Json;
    readonly isError?: boolean;
  };
  const blocks = (content ?? []).filter(isObject);
  return {
    text: blocks.flatMap(block => (typeof block.text === "string" ? [block.text] : [])).join("\n"),
    data: structuredContent,
    content: blocks,
    isError: isError === true,
  };
}
