import { type AgentCard, defined, type Json, type JsonObject } from "../model/index.ts";
import type { Answer } from "../ports.ts";

/** Both official card shapes and the one that serves clients of both: R12 in docs/dialects/README.md. */

/** Where the official protocol is spoken with an agent. */
export const addressOf = (answer: Answer & { kind: "card" }): string =>
  `${answer.base}/agents/${answer.agent.name}`;

const extensionsOf = (card: AgentCard): JsonObject =>
  card.extensions.length > 0 ? { extensions: card.extensions as unknown as Json } : {};

function common(card: AgentCard): JsonObject {
  return defined<JsonObject>({
    name: card.name,
    description: card.description,
    version: card.version,
    provider: card.provider as unknown as Json,
    documentationUrl: card.documentationUrl as Json,
    iconUrl: card.iconUrl as Json,
    defaultInputModes: card.inputModes,
    defaultOutputModes: card.outputModes,
    skills: card.skills as unknown as Json,
  });
}

const interfaces = (url: string): Json => [
  { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  { url, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
];

export function writeCardV1(card: AgentCard, url: string): JsonObject {
  return {
    ...common(card),
    supportedInterfaces: interfaces(url),
    capabilities: {
      streaming: card.streaming,
      pushNotifications: false,
      extendedAgentCard: false,
      ...extensionsOf(card),
    },
  };
}

export function writeCardV03(card: AgentCard, url: string): JsonObject {
  return {
    protocolVersion: "0.3.0",
    ...common(card),
    url,
    preferredTransport: "JSONRPC",
    additionalInterfaces: [{ url, transport: "JSONRPC" }],
    capabilities: {
      streaming: card.streaming,
      pushNotifications: false,
      stateTransitionHistory: card.stateTransitionHistory,
      ...extensionsOf(card),
    },
    supportsAuthenticatedExtendedCard: false,
  };
}

/** One document that a client of either generation can use. */
export function writeCardHybrid(card: AgentCard, url: string): JsonObject {
  const old = writeCardV03(card, url);
  return {
    ...old,
    supportedInterfaces: interfaces(url),
    capabilities: { ...(old.capabilities as JsonObject), extendedAgentCard: false },
  };
}
