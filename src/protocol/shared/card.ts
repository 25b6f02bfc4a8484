import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import { type AgentCard, Fault } from "../../model/index.ts";
import type { Agent, Answer, WireCall } from "../../ports/index.ts";
import { writeSecurityHybrid, writeSecurityV1, writeSecurityV01, writeSecurityV03 } from "./security.ts";

/** Both official card shapes and the one that serves clients of both: R12 in docs/dialects/README.md. */

export type CardAnswer = Answer & { kind: "card" };

/** Whether callers who are known are told more. */
const hasExtended = (agent: Agent): boolean => agent.extendedCard !== undefined;

/** Where the official protocol is spoken with an agent. */
export const addressOf = (answer: CardAnswer): string => `${answer.base}/agents/${answer.agent.name}`;

/** Host and port of gRPC for a caller who reached us at this base; undefined: nothing is known that he could reach. */
export type GrpcAt = (base: string) => string | undefined;

/** Asked for as LangGraph's clients do, where that dialect is not spoken: it would have claimed the call. */
export function checkCardCall(call: WireCall): void {
  if (call.query.has("assistant_id"))
    throw new Fault("agent-not-found", "There are no cards of assistants here; ask without assistant_id");
}

/** The card of a mount whose document has no push, whatever the agent does elsewhere. */
export function withoutPush(answer: Answer): Answer {
  if (answer.kind !== "card") return answer;
  const { agent } = answer;
  return { ...answer, agent: { ...agent, card: { ...agent.card, push: false } } };
}

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

/** What the official versions are spoken over, at the same address; their clients know the paths below it. */
export const OFFICIAL_TRANSPORTS: readonly string[] = ["JSONRPC", "HTTP+JSON"];

/** gRPC has no paths: v1.0 names the agent as the tenant; v0.3 has no word for any but the default one. */
function interfaces(answer: CardAnswer, grpcAt: GrpcAt | undefined): Json {
  const url = addressOf(answer);
  const versions = ["1.0", "0.3"];
  const grpc = { url: grpcAt?.(answer.base), protocolBinding: "GRPC", tenant: answer.agent.name };
  return [
    ...versions.flatMap(protocolVersion =>
      OFFICIAL_TRANSPORTS.map(protocolBinding => ({ url, protocolBinding, protocolVersion })),
    ),
    ...versions
      .filter(version => grpc.url !== undefined && (version === "1.0" || answer.isDefault))
      .map(protocolVersion => ({ ...grpc, protocolVersion }) as JsonObject),
  ];
}

export function writeCardV1(answer: CardAnswer, grpcAt: GrpcAt | undefined): JsonObject {
  const { card } = answer.agent;
  return {
    ...common(card),
    supportedInterfaces: interfaces(answer, grpcAt),
    capabilities: {
      streaming: card.streaming,
      pushNotifications: card.push,
      extendedAgentCard: hasExtended(answer.agent),
      ...extensionsOf(card),
    },
    ...writeSecurityV1(answer.security),
  };
}

/** `transports`: over what it is spoken at that address, the preferred one first. */
export function writeCardV03(
  { agent, security }: CardAnswer,
  url: string,
  transports: readonly string[] = ["JSONRPC"],
): JsonObject {
  const { card } = agent;
  return {
    protocolVersion: "0.3.0",
    ...common(card),
    url,
    preferredTransport: transports[0] as string,
    additionalInterfaces: transports.map(transport => ({ url, transport })),
    capabilities: {
      streaming: card.streaming,
      pushNotifications: card.push,
      stateTransitionHistory: card.stateTransitionHistory,
      ...extensionsOf(card),
    },
    supportsAuthenticatedExtendedCard: false,
    ...writeSecurityV03(security),
  };
}

/** The same where the extended card can be asked for. */
export const writeCardExtensible = (...asked: Parameters<typeof writeCardV03>): JsonObject => ({
  ...writeCardV03(...asked),
  supportsAuthenticatedExtendedCard: hasExtended(asked[0].agent),
});

/** As v0.3 has it, with all that it is spoken over. */
export function writeCardOfficial03(answer: CardAnswer, grpcAt: GrpcAt | undefined): JsonObject {
  const card = writeCardExtensible(answer, addressOf(answer), OFFICIAL_TRANSPORTS);
  const grpc = answer.isDefault ? grpcAt?.(answer.base) : undefined;
  if (grpc === undefined) return card;
  const others = card.additionalInterfaces as readonly Json[];
  return { ...card, additionalInterfaces: [...others, { url: grpc, transport: "GRPC" }] };
}

/** One document that a client of either generation can use. */
export function writeCardHybrid(answer: CardAnswer, grpcAt: GrpcAt | undefined): JsonObject {
  const old = writeCardOfficial03(answer, grpcAt);
  return {
    ...old,
    supportedInterfaces: interfaces(answer, grpcAt),
    capabilities: { ...(old.capabilities as JsonObject), extendedAgentCard: hasExtended(answer.agent) },
    ...writeSecurityHybrid(answer.security),
  };
}

/** As cards were at first: no transports, no extensions, and one word about who may call. */
export function writeCardV01({ agent, security }: CardAnswer, url: string): JsonObject {
  const { card } = agent;
  const { iconUrl: _, ...known } = common(card);
  return {
    ...known,
    url,
    capabilities: {
      streaming: card.streaming,
      pushNotifications: card.push,
      stateTransitionHistory: card.stateTransitionHistory,
    },
    ...writeSecurityV01(security),
  };
}
