import { flag, list, type Members, object, record, ref, text, texts, told, url, word } from "./schema.ts";

const TRANSPORTS = word("JSONRPC", "HTTP+JSON", "GRPC");

const NEEDED = {
  name: text,
  description: text,
  version: told("The agent's own version", text),
  defaultInputModes: told("Media types", texts),
  defaultOutputModes: told("Media types", texts),
  skills: list(ref("AgentSkill")),
};

const OPTIONAL = { provider: ref("AgentProvider"), documentationUrl: url, iconUrl: url };

const SIGNATURES = { signatures: list(ref("AgentCardSignature")) };
/** By name. Any one of them is enough. */
const SCHEMES: Members = { securitySchemes: { type: "object", additionalProperties: record } };
const REQUIREMENT = object({
  schemes: { type: "object", additionalProperties: object({}, { list: texts }) },
});
const V1_SECURITY: Members = { ...SCHEMES, securityRequirements: list(REQUIREMENT) };
const V03_SECURITY: Members = { ...SCHEMES, security: list({ type: "object", additionalProperties: texts }) };

const EXTENSIONS = { extensions: list(ref("AgentExtension")) };

const V03_NEEDED = {
  ...NEEDED,
  protocolVersion: text,
  url,
  preferredTransport: text,
  additionalInterfaces: list(ref("V03AgentInterface")),
  capabilities: object(
    { streaming: flag, pushNotifications: flag, stateTransitionHistory: flag },
    EXTENSIONS,
  ),
  supportsAuthenticatedExtendedCard: flag,
};

/** The cards of the official versions. A caller who names no version gets one that is both. */
export const CARD_SCHEMAS = {
  AgentProvider: object({ organization: text, url }),
  AgentCardSignature: object({ protected: text, signature: text }, { header: record }),
  AgentSkill: object(
    { id: text, name: text, description: text, tags: texts },
    { examples: texts, inputModes: texts, outputModes: texts },
  ),
  AgentExtension: object({ uri: text }, { description: text, required: { type: "boolean" }, params: record }),
  V1AgentInterface: object(
    { url: text, protocolBinding: TRANSPORTS, protocolVersion: text },
    { tenant: text },
  ),
  V1AgentCard: object(
    {
      ...NEEDED,
      supportedInterfaces: list(ref("V1AgentInterface")),
      capabilities: object({ streaming: flag, pushNotifications: flag, extendedAgentCard: flag }, EXTENSIONS),
    },
    { ...OPTIONAL, ...V1_SECURITY, ...SIGNATURES },
  ),
  V03AgentInterface: object({ url: text, transport: TRANSPORTS }),
  V03AgentCard: object(V03_NEEDED, { ...OPTIONAL, ...V03_SECURITY, ...SIGNATURES }),
  V03ProtoAgentCard: object(V03_NEEDED, {
    ...OPTIONAL,
    ...SCHEMES,
    security: list(REQUIREMENT),
    ...SIGNATURES,
  }),
  HybridAgentCard: { allOf: [ref("V1AgentCard"), ref("V03AgentCard")] },
};
