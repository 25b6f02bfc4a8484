import { trimEnd } from "../lib/trim-end.ts";
import { ClientError } from "./errors.ts";

/** The base URL of an agent, for hints, and the URLs where its card may be. */
export interface AgentAddress {
  readonly base: string;
  readonly cardUrls: readonly string[];
  /** The address is that of a card, and not of a server. */
  readonly isCard: boolean;
}

const CARD_PATH = "/.well-known/agent-card.json";
/** The path of cards before v0.3. */
const OLD_CARD_PATH = "/.well-known/agent.json";

/** `address`: a base URL (`http://host:2024`, `…/agents/echo`) or the URL of a card (`….json`). */
export function parseAgentAddress(address: string, agent: string | undefined): AgentAddress {
  const url = parseHttpUrl(address);
  const isCard = /\.json$|\/agentCard$/.test(url.pathname);
  const root = isCard ? url.pathname.replace(/(\/\.well-known)?\/[^/]*$/, "") : trimEnd(url.pathname, "/");
  const path = agent === undefined ? root : `${root}/agents/${encodeURIComponent(agent)}`;
  const base = `${url.origin}${path}`;
  if (isCard && agent === undefined) return { base, cardUrls: [url.href], isCard };
  const standard = [`${base}${CARD_PATH}${url.search}`, `${base}${OLD_CARD_PATH}${url.search}`];
  const [, assistant] = /^\/a2a\/([^/]+)$/.exec(path) ?? [];
  // LangGraph's servers have one card path for all agents.
  const langgraph = assistant === undefined ? [] : [`${url.origin}${CARD_PATH}?assistant_id=${assistant}`];
  const arbiter = /\/v1\/a2a\/agents\/[^/]+$/.test(path) ? [`${base}/agent-card.json`] : [];
  return { base, cardUrls: [...standard, ...langgraph, ...arbiter], isCard: url.search !== "" };
}

function parseHttpUrl(address: string): URL {
  const url = parseAddress(address);
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new ClientError(`"${address}" is not the URL of an agent. Example: http://127.0.0.1:2024`);
}

/** Adds a scheme where there is none: gRPC addresses may be `host:port`. */
export const parseAddress = (address: string): URL | null =>
  URL.parse(address.includes("://") ? address : `http://${address}`);

/** The address of this machine by which only its own programs connect. */
export function isLoopback(address: string): boolean {
  const host = parseAddress(address)?.hostname ?? "";
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Same scheme, host and port: credentials for one URL may be sent to the other. The names of loopback are one host. */
export function isSameOrigin(address: string, other: string): boolean {
  const origin = originOf(address);
  return origin !== undefined && origin === originOf(other);
}

/** Not `URL.origin`: that is "null" for all schemes that browsers do not know. */
function originOf(address: string): string | undefined {
  const { protocol = "", hostname = "", port = "" } = parseAddress(address) ?? {};
  const [, secure] = /^(?:http|grpc)(s?):$/.exec(protocol) ?? [];
  if (hostname === "" || secure === undefined) return undefined;
  const host = isLoopback(address) ? "localhost" : hostname.toLowerCase();
  return `${secure}//${host}:${port || (secure ? 443 : 80)}`;
}
