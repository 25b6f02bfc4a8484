import { defined, type JsonObject } from "../../lib/json.ts";
import type { Agent, OperationResult } from "../../ports/index.ts";

type AgentsResult = OperationResult & { kind: "agents" };

const CARD_PATH = "/.well-known/agent-card.json";
const toUrl = (base: string, { name }: Agent): string => `${base}/agents/${name}`;

/** AI Catalog 1.0: agents by the URLs of their cards. */
export function encodeAiCatalog({ agents, base }: AgentsResult): JsonObject {
  const { host } = new URL(base);
  return {
    specVersion: "1.0",
    host: { displayName: host },
    entries: agents.map(agent => encodeEntry(agent, base, host)),
  };
}

function encodeEntry(agent: Agent, base: string, host: string): JsonObject {
  const { card, name } = agent;
  const tags = [...new Set(card.skills.flatMap(skill => skill.tags))];
  return defined<JsonObject>({
    // A port is separated by a colon, as are the parts of the name.
    identifier: `urn:air:${host.replace(":", "%3A")}:a2a:${name}`,
    type: "application/a2a-agent-card+json",
    url: `${toUrl(base, agent)}${CARD_PATH}`,
    displayName: card.name,
    description: card.description,
    tags: tags.length > 0 ? tags : (undefined as never),
    version: card.version,
  });
}

/** RFC 9727: a linkset (RFC 9264) of the agents, with the description of the server's API. */
export const encodeApiCatalog = ({ agents, base }: AgentsResult): JsonObject => ({
  linkset: agents.map(agent => ({
    anchor: toUrl(base, agent),
    "service-desc": [{ href: `${base}/openapi.json`, type: "application/json" }],
    "service-doc": [{ href: `${base}/docs`, type: "text/html" }],
    "service-meta": [{ href: `${toUrl(base, agent)}${CARD_PATH}`, type: "application/json" }],
  })),
});
