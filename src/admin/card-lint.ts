/** Checks of agent cards, each with the section of the specification that it follows. */
import { isObject, type Json, type JsonObject } from "../lib/json.ts";
import type { CardFinding } from "./api.ts";

/** The specification of a card: the official ones, or what the cards of all vendors have in common. */
export type CardKind = "v1" | "v03" | "common";

interface Check {
  readonly kinds: readonly CardKind[];
  readonly level: CardFinding["level"];
  readonly section: string;
  readonly title: string;
  readonly text: string;
  /** Where the check fails; empty: it holds. */
  readonly find: (card: JsonObject) => readonly string[];
}

const ALL: readonly CardKind[] = ["v1", "v03", "common"];
const V1: readonly CardKind[] = ["v1"];
const V03: readonly CardKind[] = ["v03"];
const OFFICIAL: readonly CardKind[] = ["v1", "v03"];

const CARD = "A2A 1.0 §4.4.1, AgentCard";
const CARD_V03 = "A2A 0.3 §5.5, AgentCard";
const PROVIDER = "A2A 1.0 §4.4.2, AgentProvider";
const CAPABILITIES = "A2A 1.0 §4.4.3, AgentCapabilities";
const EXTENSION = "A2A 1.0 §4.4.4, AgentExtension";
const SKILL = "A2A 1.0 §4.4.5, AgentSkill";
const INTERFACE = "A2A 1.0 §4.4.6, AgentInterface";
const SECURITY = "A2A 1.0 §4.5.1, SecurityScheme";
const INTERFACE_V03 = "A2A 0.3 §5.5.5, AgentInterface";

const isText = (value: Json | undefined): value is string => typeof value === "string" && value.trim() !== "";
const isBlank = (card: JsonObject, name: string): readonly string[] => (isText(card[name]) ? [] : [name]);
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const objectsIn = (card: JsonObject, name: string): readonly (readonly [string, JsonObject])[] =>
  listOf(card[name]).map((one, i) => [`${name}[${i}]`, isObject(one) ? one : {}] as const);
const interfaces = (card: JsonObject) => objectsIn(card, "supportedInterfaces");
const skills = (card: JsonObject) => objectsIn(card, "skills");
const capabilities = (card: JsonObject): JsonObject => (isObject(card.capabilities) ? card.capabilities : {});

const isHttpUrl = (value: Json | undefined): boolean =>
  typeof value === "string" && /^https?:$/.test(URL.parse(value)?.protocol ?? "");
const isHttps = (value: Json | undefined): boolean =>
  typeof value === "string" && URL.parse(value)?.protocol === "https:";
const isMediaType = (value: Json): boolean =>
  typeof value === "string" && /^[\w.+*-]{1,100}\/[\w.+*-]{1,100}(?:;|$)/.test(value);
/** gRPC is addressed by host and port. */
const isGrpc = (one: JsonObject): boolean => one.protocolBinding === "GRPC" || one.transport === "GRPC";

const missingIn = (all: readonly (readonly [string, JsonObject])[], member: string): readonly string[] =>
  all.filter(([, one]) => !isText(one[member])).map(([path]) => `${path}.${member}`);

const repeatedIds = (card: JsonObject): readonly string[] => {
  const ids = skills(card).map(([, skill]) => skill.id);
  return skills(card)
    .filter(([, skill], i) => isText(skill.id) && ids.indexOf(skill.id) !== i)
    .map(([path]) => `${path}.id`);
};

const wrongModes = (card: JsonObject, name: string): readonly string[] => {
  const modes = listOf(card[name]);
  if (modes.length === 0) return [name];
  return modes.flatMap((mode, i) => (isMediaType(mode) ? [] : [`${name}[${i}]`]));
};

const BINDINGS: readonly Json[] = ["JSONRPC", "HTTP+JSON", "GRPC"];

const required = (kinds: readonly CardKind[], section: string, name: string, text: string): Check => ({
  kinds,
  level: "error",
  section,
  title: `${name} is missing`,
  text,
  find: card => isBlank(card, name),
});

const CHECKS: readonly Check[] = [
  required(ALL, CARD, "name", "Clients show the name to people. Set `name` in the agent's definition."),
  required(ALL, CARD, "description", "Other agents choose an agent by its description. Set `description`."),
  required(ALL, CARD, "version", "The version tells clients whether the agent has changed. Set `version`."),
  {
    kinds: V1,
    level: "error",
    section: CARD,
    title: "No interface",
    text: "supportedInterfaces must have at least one entry, the preferred one first.",
    find: card => (interfaces(card).length > 0 ? [] : ["supportedInterfaces"]),
  },
  {
    kinds: V1,
    level: "error",
    section: INTERFACE,
    title: "An interface has no absolute URL",
    text: "The URL of an interface must be absolute.",
    find: card =>
      interfaces(card)
        .filter(([, one]) => !isGrpc(one) && !isHttpUrl(one.url))
        .map(([path]) => `${path}.url`),
  },
  {
    kinds: V1,
    level: "warning",
    section: INTERFACE,
    title: "The address is not HTTPS",
    text: "An interface must be an absolute HTTPS URL in production. On loopback it may stay as it is; behind a proxy set --public-url.",
    find: card => {
      const found = interfaces(card).find(
        ([, one]) => !isGrpc(one) && isHttpUrl(one.url) && !isHttps(one.url),
      );
      return found ? [`${found[0]}.url`] : [];
    },
  },
  {
    kinds: V1,
    level: "error",
    section: INTERFACE,
    title: "Unknown binding",
    text: "protocolBinding must be JSONRPC, HTTP+JSON, GRPC, or a URI of another binding.",
    find: card =>
      interfaces(card)
        .filter(
          ([, one]) => !BINDINGS.includes(one.protocolBinding ?? null) && !isHttpUrl(one.protocolBinding),
        )
        .map(([path]) => `${path}.protocolBinding`),
  },
  {
    kinds: V1,
    level: "error",
    section: INTERFACE,
    title: "An interface has no protocol version",
    text: "protocolVersion must be the version that the interface speaks, such as 1.0.",
    find: card => missingIn(interfaces(card), "protocolVersion"),
  },
  {
    kinds: V1,
    level: "warning",
    section: INTERFACE,
    title: "No interface speaks A2A 1.0",
    text: "Clients of 1.0 use an interface whose protocolVersion is 1.0.",
    find: card =>
      interfaces(card).some(([, one]) => one.protocolVersion === "1.0") ? [] : ["supportedInterfaces"],
  },
  required(V03, CARD_V03, "url", "Clients of 0.3 send their calls to this URL."),
  required(
    V03,
    CARD_V03,
    "protocolVersion",
    "The version of the protocol that the agent speaks, such as 0.3.0.",
  ),
  {
    kinds: V03,
    level: "error",
    section: "A2A 0.3 §5.6.3, transport declaration",
    title: "The preferred transport is not the transport of the URL",
    text: "additionalInterfaces must contain the URL with preferredTransport, or not contain the URL at all.",
    find: card => {
      const own = objectsIn(card, "additionalInterfaces").filter(([, one]) => one.url === card.url);
      const isDeclared = own.some(([, one]) => one.transport === card.preferredTransport);
      return own.length === 0 || isDeclared ? [] : ["preferredTransport"];
    },
  },
  {
    kinds: V03,
    level: "error",
    section: INTERFACE_V03,
    title: "An interface has no transport",
    text: "Each of the additionalInterfaces needs a url and a transport.",
    find: card => [
      ...missingIn(objectsIn(card, "additionalInterfaces"), "url"),
      ...missingIn(objectsIn(card, "additionalInterfaces"), "transport"),
    ],
  },
  {
    kinds: OFFICIAL,
    level: "error",
    section: CAPABILITIES,
    title: "No capabilities",
    text: "capabilities is required, even if all of them are false.",
    find: card => (isObject(card.capabilities) ? [] : ["capabilities"]),
  },
  {
    kinds: OFFICIAL,
    level: "error",
    section: CAPABILITIES,
    title: "A capability is not true or false",
    text: "streaming, pushNotifications and extendedAgentCard are booleans.",
    find: card =>
      ["streaming", "pushNotifications", "extendedAgentCard"]
        .filter(name => ![undefined, true, false].includes(capabilities(card)[name] as boolean | undefined))
        .map(name => `capabilities.${name}`),
  },
  {
    kinds: OFFICIAL,
    level: "error",
    section: EXTENSION,
    title: "An extension has no URI",
    text: "The URI identifies an extension: clients activate it by that.",
    find: card =>
      objectsIn(capabilities(card), "extensions")
        .filter(([, one]) => !isText(one.uri))
        .map(([path]) => `capabilities.${path}.uri`),
  },
  {
    kinds: OFFICIAL,
    level: "warning",
    section: EXTENSION,
    title: "An extension is required",
    text: "Clients that do not support the extension cannot call the agent.",
    find: card =>
      objectsIn(capabilities(card), "extensions")
        .filter(([, one]) => one.required === true)
        .map(([path]) => `capabilities.${path}.required`),
  },
  {
    kinds: OFFICIAL,
    level: "error",
    section: CARD,
    title: "Input modes are not media types",
    text: "defaultInputModes must be a list of at least one media type, such as text/plain.",
    find: card => wrongModes(card, "defaultInputModes"),
  },
  {
    kinds: OFFICIAL,
    level: "error",
    section: CARD,
    title: "Output modes are not media types",
    text: "defaultOutputModes must be a list of at least one media type, such as text/plain.",
    find: card => wrongModes(card, "defaultOutputModes"),
  },
  {
    kinds: OFFICIAL,
    level: "warning",
    section: SKILL,
    title: "No skills",
    text: "Catalogues and other agents find an agent by its skills. Describe at least one.",
    find: card => (skills(card).length > 0 ? [] : ["skills"]),
  },
  {
    kinds: OFFICIAL,
    level: "error",
    section: SKILL,
    title: "A skill lacks its id, name or description",
    text: "id, name and description of a skill are required.",
    find: card => ["id", "name", "description"].flatMap(member => missingIn(skills(card), member)),
  },
  {
    kinds: OFFICIAL,
    level: "error",
    section: SKILL,
    title: "Two skills have the same id",
    text: "The id of a skill must be unique in its card.",
    find: repeatedIds,
  },
  {
    kinds: OFFICIAL,
    level: "note",
    section: SKILL,
    title: "A skill has no tags",
    text: "tags are required by the specification, and catalogues search by them.",
    find: card =>
      skills(card)
        .filter(([, skill]) => listOf(skill.tags).length === 0)
        .map(([path]) => `${path}.tags`),
  },
  {
    kinds: OFFICIAL,
    level: "note",
    section: SKILL,
    title: "A skill has no examples",
    text: "Examples show people and models what to ask for.",
    find: card =>
      skills(card)
        .filter(([, skill]) => listOf(skill.examples).length === 0)
        .map(([path]) => `${path}.examples`),
  },
  {
    kinds: OFFICIAL,
    level: "warning",
    section: SECURITY,
    title: "No authentication is declared",
    text: "The card names no security scheme: every client that reaches the server may call the agent. That is right on loopback; elsewhere require authentication with --auth.",
    find: card =>
      isObject(card.securitySchemes) && Object.keys(card.securitySchemes).length > 0
        ? []
        : ["securitySchemes"],
  },
  {
    kinds: OFFICIAL,
    level: "note",
    section: PROVIDER,
    title: "No provider",
    text: "provider is optional. Catalogues show which organization is responsible for an agent.",
    find: card => (isObject(card.provider) ? [] : ["provider"]),
  },
  {
    kinds: OFFICIAL,
    level: "error",
    section: PROVIDER,
    title: "The provider is incomplete",
    text: "A provider has an organization and a URL.",
    find: card => {
      const { provider } = card;
      if (!isObject(provider)) return [];
      return ["organization", "url"].filter(name => !isText(provider[name])).map(name => `provider.${name}`);
    },
  },
  {
    kinds: OFFICIAL,
    level: "note",
    section: CARD,
    title: "No documentation",
    text: "documentationUrl is optional. It leads people to the manual of the agent.",
    find: card => (isHttpUrl(card.documentationUrl) ? [] : ["documentationUrl"]),
  },
];

/** Paths of one finding; further ones are of the same kind. */
const PATHS_MAX = 5;

export function lintCard(
  card: JsonObject,
  kind: CardKind,
): { readonly findings: readonly CardFinding[]; readonly passed: number } {
  const checks = CHECKS.filter(check => check.kinds.includes(kind));
  const findings = checks.flatMap(({ level, title, text, section, find }) =>
    find(card)
      .slice(0, PATHS_MAX)
      .map(path => ({ level, title, text, section, path })),
  );
  const failed = new Set(findings.map(finding => finding.title));
  return { findings: findings.sort(bySeverity), passed: checks.length - failed.size };
}

const SEVERITY: readonly CardFinding["level"][] = ["error", "warning", "note"];
const bySeverity = (a: CardFinding, b: CardFinding): number =>
  SEVERITY.indexOf(a.level) - SEVERITY.indexOf(b.level);
