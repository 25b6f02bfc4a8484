import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import { type AgentCard, Fault } from "../../model/index.ts";
import type { Agent, CardResult, OperationResult, WireCall } from "../../ports/index.ts";
import {
  encodeSecurityHybrid,
  encodeSecurityV1,
  encodeSecurityV01,
  encodeSecurityV03,
} from "./card-security.ts";

/** Agent cards in the shape of each version, and the hybrid card for clients of all versions (R12 in docs/dialects/README.md). */

const hasExtendedCard = (agent: Agent): boolean => agent.extendedCard !== undefined;

/** The URL of an agent in the official protocols. */
export const toAgentUrl = (result: CardResult): string => `${result.base}/agents/${result.agent.name}`;

/** Host and port of gRPC for callers of this base URL; undefined: no reachable address is known. */
export type GrpcAt = (base: string) => string | undefined;

/** `assistant_id` is a parameter of LangGraph, which claims such calls first unless it is switched off. */
export function rejectAssistantId(call: WireCall): void {
  if (call.query.has("assistant_id"))
    throw new Fault(
      "agent-not-found",
      "Unknown parameter assistant_id: the LangGraph dialect is switched off",
    );
}

/** For vendor documents without push: the card says so, although the agent has push in other protocols. */
export function withoutPush(result: OperationResult): OperationResult {
  if (result.kind !== "card") return result;
  const { agent } = result;
  return { ...result, agent: { ...agent, card: { ...agent.card, push: false } } };
}

const toExtensions = (card: AgentCard): JsonObject =>
  card.extensions.length > 0 ? { extensions: card.extensions as unknown as Json } : {};

function encodeCommon(card: AgentCard): JsonObject {
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

/** The transports of the official versions at the URL of an agent. */
export const OFFICIAL_TRANSPORTS: readonly string[] = ["JSONRPC", "HTTP+JSON"];

export interface InterfaceOptions {
  /** The address of gRPC in cards; undefined: gRPC is off. */
  readonly grpcAt?: GrpcAt;
  /** The draft of A2A 1.1. */
  readonly v11: "on" | "off";
}

/** gRPC has no paths: from v1.0 on the tenant names the agent; v0.3 reaches only the default agent. */
function encodeInterfaces(result: CardResult, { grpcAt, v11 }: InterfaceOptions): Json {
  const url = toAgentUrl(result);
  const versions = v11 === "on" ? ["1.0", "0.3", "1.1"] : ["1.0", "0.3"];
  const grpc = { url: grpcAt?.(result.base), protocolBinding: "GRPC", tenant: result.agent.name };
  return [
    ...versions.flatMap(protocolVersion =>
      OFFICIAL_TRANSPORTS.map(protocolBinding => ({ url, protocolBinding, protocolVersion })),
    ),
    ...versions
      .filter(version => grpc.url !== undefined && (version !== "0.3" || result.isDefault))
      .map(protocolVersion => ({ ...grpc, protocolVersion }) as JsonObject),
  ];
}

export function encodeCardV1(result: CardResult, interfaces: InterfaceOptions): JsonObject {
  const { card } = result.agent;
  return {
    ...encodeCommon(card),
    supportedInterfaces: encodeInterfaces(result, interfaces),
    capabilities: {
      streaming: card.streaming,
      pushNotifications: card.push,
      extendedAgentCard: hasExtendedCard(result.agent),
      ...toExtensions(card),
    },
    ...encodeSecurityV1(result.security),
  };
}

/** `transports`: available at that URL, the preferred one first. */
export function encodeCardV03(
  { agent, security }: CardResult,
  url: string,
  transports: readonly string[] = ["JSONRPC"],
): JsonObject {
  const { card } = agent;
  return {
    protocolVersion: "0.3.0",
    ...encodeCommon(card),
    url,
    preferredTransport: transports[0] as string,
    additionalInterfaces: transports.map(transport => ({ url, transport })),
    capabilities: {
      streaming: card.streaming,
      pushNotifications: card.push,
      stateTransitionHistory: card.stateTransitionHistory,
      ...toExtensions(card),
    },
    supportsAuthenticatedExtendedCard: false,
    ...encodeSecurityV03(security),
  };
}

/** The same for protocols with an extended card. */
export const encodeExtensibleCardV03 = (
  result: CardResult,
  url: string,
  transports?: readonly string[],
): JsonObject => ({
  ...encodeCardV03(result, url, transports),
  supportsAuthenticatedExtendedCard: hasExtendedCard(result.agent),
});

/** The card of v0.3 with all its transports. */
export function encodeOfficialCardV03(result: CardResult, grpcAt: GrpcAt | undefined): JsonObject {
  const card = encodeExtensibleCardV03(result, toAgentUrl(result), OFFICIAL_TRANSPORTS);
  const grpc = result.isDefault ? grpcAt?.(result.base) : undefined;
  if (grpc === undefined) return card;
  const others = card.additionalInterfaces as readonly Json[];
  return { ...card, additionalInterfaces: [...others, { url: grpc, transport: "GRPC" }] };
}

/** One document with the members of v0.3 and of v1.0. */
export function encodeCardHybrid(result: CardResult, interfaces: InterfaceOptions): JsonObject {
  const v03 = encodeOfficialCardV03(result, interfaces.grpcAt);
  return {
    ...v03,
    supportedInterfaces: encodeInterfaces(result, interfaces),
    capabilities: { ...(v03.capabilities as JsonObject), extendedAgentCard: hasExtendedCard(result.agent) },
    ...encodeSecurityHybrid(result.security),
  };
}

/** The card of v0.1: no transports, no extensions, and only the names of authentication schemes. */
export function encodeCardV01({ agent, security }: CardResult, url: string): JsonObject {
  const { card } = agent;
  const { iconUrl: _, ...members } = encodeCommon(card);
  return {
    ...members,
    url,
    capabilities: {
      streaming: card.streaming,
      pushNotifications: card.push,
      stateTransitionHistory: card.stateTransitionHistory,
    },
    ...encodeSecurityV01(security),
  };
}
