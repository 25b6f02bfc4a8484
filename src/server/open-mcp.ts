/** Whom agents call, and who calls agents as tools; what is opened for that is closed here. */

import { MissingPeer } from "../lib/optional-package.ts";
import { createMcpRoute } from "../mcp/route.ts";
import { createTools, type McpTarget } from "../mcp/tools.ts";
import type {
  Authenticator,
  Endpoint,
  ExecuteOperation,
  Log,
  McpServers,
  Observer,
  Outbound,
} from "../ports/index.ts";
import { createUpstreams } from "../runner/remote-cards.ts";
import { StartRefusal } from "./admin-routes.ts";
import type { LiveCatalog } from "./catalog.ts";

export interface PeersParts {
  readonly settings: {
    readonly mcp: boolean;
    readonly mcpWaitMs: number;
    readonly mcpServers: Readonly<Record<string, McpTarget>>;
    readonly bodyBytesMax: number;
  };
  readonly catalog: LiveCatalog;
  readonly outbound: Outbound;
  readonly guard: Authenticator;
  readonly core: ExecuteOperation;
  readonly version: () => string;
  /** undefined: nobody watches. */
  readonly watch: Observer | undefined;
  readonly log: Log;
}

export interface Neighbours {
  /** MCP servers that the config names. */
  readonly tools: McpServers;
  readonly own: readonly Endpoint[];
  /** Reads the cards of agents that stand for others. */
  look(): Promise<void>;
  close(): Promise<void>;
}

export async function openPeers(parts: PeersParts): Promise<Neighbours> {
  const { settings, catalog, outbound } = parts;
  const upstreams = createUpstreams({
    ...parts,
    agents: catalog.all,
    show: agents => catalog.replace(agents, catalog.defaultAgent),
  });
  const tools = createTools({ ...parts, servers: settings.mcpServers, fetch: outbound.trusted });
  const route = settings.mcp ? await openRoute(parts) : undefined;
  return {
    tools: tools.open,
    own: route ? [route.own] : [],
    look: upstreams.look,
    async close() {
      await Promise.all([upstreams.stop(), route?.close(), tools.close()]);
    },
  };
}

async function openRoute(parts: PeersParts) {
  try {
    return await createMcpRoute({ ...parts, ...parts.settings });
  } catch (error) {
    if (error instanceof MissingPeer) throw new StartRefusal(error.message);
    throw error;
  }
}
