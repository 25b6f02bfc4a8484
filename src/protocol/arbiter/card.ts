import type { Json, JsonObject } from "../../lib/json.ts";
import type { CardAnswer } from "../shared/card.ts";
import { writeSecurityV03 } from "../shared/security.ts";

/** v0.3's shape under a version of its own. Only text is taken at this mount, whatever the agent takes elsewhere. */
export function writeCard({ agent, security }: CardAnswer, url: string): JsonObject {
  const { card } = agent;
  return {
    ...BASE,
    name: card.name,
    description: card.description,
    url,
    version: card.version,
    defaultOutputModes: card.outputModes,
    capabilities: { streaming: card.streaming, pushNotifications: card.push, stateTransitionHistory: false },
    skills: [CHAT, ...(card.skills as unknown as readonly Json[])],
    ...writeSecurityV03(security),
  };
}

const BASE = { protocolVersion: "1.0", preferredTransport: "JSONRPC", defaultInputModes: ["text/plain"] };

const CHAT = {
  id: "chat",
  name: "chat",
  description: "Free-form text conversation with the agent",
  tags: ["text"],
};

const DISCOVER = {
  id: "discover",
  name: "discover",
  description: "Find the card of an agent at /v1/a2a/agents/<agent_id>/agent-card.json",
  tags: ["discovery"],
};

/** What is said where no agent is named: only where to ask. */
export function writeStub(base: string): JsonObject {
  return {
    ...BASE,
    name: "arbiter",
    description: "Agents have a card each: /v1/a2a/agents/<agent_id>/agent-card.json",
    url: `${base}/v1/a2a`,
    version: "stub",
    defaultOutputModes: ["text/plain", "application/json"],
    capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
    skills: [DISCOVER],
  };
}
