import { isObject, type Json, type JsonObject } from "../lib/json.ts";

/**
 * v1 §8.4.1: a card is signed as its definition writes it, whatever form it came in. `!`: always there, even if empty;
 * `?`: there if it was set; anything else only if it is not empty. Then the message that it is, and `[]` or `{}` for many.
 */
const FLOW = { refreshUrl: "", scopes: "!{}" };
const MESSAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  AgentCard: {
    name: "!",
    description: "!",
    supportedInterfaces: "!AgentInterface[]",
    provider: "AgentProvider",
    version: "!",
    documentationUrl: "?",
    capabilities: "!AgentCapabilities",
    securitySchemes: "SecurityScheme{}",
    securityRequirements: "SecurityRequirement[]",
    defaultInputModes: "![]",
    defaultOutputModes: "![]",
    skills: "!AgentSkill[]",
    iconUrl: "?",
  },
  AgentInterface: { url: "!", protocolBinding: "!", tenant: "", protocolVersion: "!" },
  AgentProvider: { url: "!", organization: "!" },
  AgentCapabilities: {
    streaming: "?",
    pushNotifications: "?",
    extensions: "AgentExtension[]",
    extendedAgentCard: "?",
  },
  AgentExtension: { uri: "", description: "", required: "", params: "" },
  AgentSkill: {
    id: "!",
    name: "!",
    description: "!",
    tags: "![]",
    examples: "[]",
    inputModes: "[]",
    outputModes: "[]",
    securityRequirements: "SecurityRequirement[]",
  },
  SecurityRequirement: { schemes: "StringList{}" },
  StringList: { list: "[]" },
  SecurityScheme: {
    apiKeySecurityScheme: "?ApiKey",
    httpAuthSecurityScheme: "?HttpAuth",
    oauth2SecurityScheme: "?OAuth2",
    openIdConnectSecurityScheme: "?OpenIdConnect",
    mtlsSecurityScheme: "?MutualTls",
  },
  ApiKey: { description: "", location: "!", name: "!" },
  HttpAuth: { description: "", scheme: "!", bearerFormat: "" },
  OAuth2: { description: "", flows: "!Flows", oauth2MetadataUrl: "" },
  OpenIdConnect: { description: "", openIdConnectUrl: "!" },
  MutualTls: { description: "" },
  Flows: {
    authorizationCode: "?AuthorizationCode",
    clientCredentials: "?ClientCredentials",
    implicit: "?Implicit",
    password: "?ClientCredentials",
    deviceCode: "?DeviceCode",
  },
  AuthorizationCode: { authorizationUrl: "!", tokenUrl: "!", ...FLOW, pkceRequired: "" },
  ClientCredentials: { tokenUrl: "!", ...FLOW },
  Implicit: { authorizationUrl: "", refreshUrl: "", scopes: "{}" },
  DeviceCode: { deviceAuthorizationUrl: "!", tokenUrl: "!", ...FLOW },
};

const FIELD = /^([!?]?)(\w*)(\[\]|\{\})?$/;

/** The card as v1.0 knows it: nothing else is in it, and nothing that its definition leaves out. */
export const asDefined = (card: JsonObject): JsonObject => toMessage("AgentCard", card);

function toMessage(type: string, from: JsonObject): JsonObject {
  const out: Record<string, Json> = {};
  for (const [name, field] of Object.entries(MESSAGES[type] ?? {})) {
    const [, rule = "", inner = "", many = ""] = FIELD.exec(field) ?? [];
    const given = from[name];
    if (given === undefined && rule !== "!") continue;
    const value = given === undefined ? nothing(inner, many) : toValue(inner, many, given);
    if (rule !== "" || !isEmpty(value)) out[name] = value;
  }
  return out;
}

function nothing(inner: string, many: string): Json {
  if (many === "[]") return [];
  if (many === "{}") return {};
  return inner === "" ? "" : toMessage(inner, {});
}

function toValue(inner: string, many: string, value: Json): Json {
  if (inner === "") return value;
  if (many === "[]") return Array.isArray(value) ? value.map(one => toOne(inner, one)) : value;
  if (many === "{}" && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toOne(inner, one as Json)]));
  return toOne(inner, value);
}

const toOne = (type: string, value: Json): Json => (isObject(value) ? toMessage(type, value) : value);

const isEmpty = (value: Json): boolean => {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return !value;
};

/** As some official libraries have it: without anything that is empty, required or not. null: nothing is left. */
export function withoutEmpty(value: Json): Json {
  if (value === "" || value === null) return null;
  if (Array.isArray(value)) {
    const rest = value.map(withoutEmpty).filter(one => one !== null);
    return rest.length > 0 ? rest : null;
  }
  if (!isObject(value)) return value;
  const rest = Object.entries(value)
    .map(([name, inner]) => [name, withoutEmpty(inner as Json)] as const)
    .filter(([, inner]) => inner !== null);
  return rest.length > 0 ? Object.fromEntries(rest) : null;
}
