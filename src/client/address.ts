import { trimEnd } from "../lib/trim-end.ts";
import { Trouble } from "./errors.ts";

/** Whom the user means: an address to say again in hints, and where the card may be. */
export interface Target {
  readonly base: string;
  readonly cardUrls: readonly string[];
}

const CARD_PATH = "/.well-known/agent-card.json";
/** Where cards were before v0.3. */
const OLD_CARD_PATH = "/.well-known/agent.json";

/** An address is a base (`http://host:2024`, `…/agents/echo`) or that of a card (`….json`). */
export function toTarget(address: string, agent: string | undefined): Target {
  const url = parseUrl(address);
  const isCard = /\.json$|\/agentCard$/.test(url.pathname);
  const root = isCard ? url.pathname.replace(/(\/\.well-known)?\/[^/]*$/, "") : trimEnd(url.pathname, "/");
  const path = agent === undefined ? root : `${root}/agents/${encodeURIComponent(agent)}`;
  const base = `${url.origin}${path}`;
  if (isCard && agent === undefined) return { base, cardUrls: [url.href] };
  const usual = [`${base}${CARD_PATH}${url.search}`, `${base}${OLD_CARD_PATH}${url.search}`];
  const [, assistant] = /^\/a2a\/([^/]+)$/.exec(path) ?? [];
  // LangGraph's servers have all cards in one place.
  const elsewhere = assistant === undefined ? [] : [`${url.origin}${CARD_PATH}?assistant_id=${assistant}`];
  return { base, cardUrls: [...usual, ...elsewhere] };
}

function parseUrl(address: string): URL {
  const url = parseAddress(address);
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new Trouble(`"${address}" is no address of an agent. Write it like http://127.0.0.1:2024`);
}

/** As a URL, whatever the transport: gRPC has a host and a port, or an address with a scheme. */
export const parseAddress = (address: string): URL | null =>
  URL.parse(address.includes("://") ? address : `http://${address}`);

/** Schemes by whether TLS is spoken, with the usual port of each. */
const SCHEMES: Readonly<Record<string, readonly [scheme: string, port: number]>> = {
  "http:": ["http", 80],
  "https:": ["https", 443],
  "grpc:": ["http", 80],
  "grpcs:": ["https", 443],
};

/** Scheme, host and port are the same: credentials for the one may go to the other. */
export function isSameOrigin(address: string, other: string): boolean {
  const origin = originOf(address);
  return origin !== undefined && origin === originOf(other);
}

/** `URL.origin` is "null" for schemes that browsers do not know, and so the same for all of them. */
function originOf(address: string): string | undefined {
  const url = parseAddress(address);
  const [scheme, usual] = (url && SCHEMES[url.protocol]) ?? [];
  if (!url?.hostname || scheme === undefined) return undefined;
  return `${scheme}://${url.hostname.toLowerCase()}:${url.port || usual}`;
}
