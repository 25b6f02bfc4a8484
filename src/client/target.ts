import { trimEnd } from "../model/index.ts";
import { Trouble } from "./trouble.ts";

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
  const url = URL.parse(address.includes("://") ? address : `http://${address}`);
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new Trouble(`"${address}" is no address of an agent. Write it like http://127.0.0.1:2024`);
}
