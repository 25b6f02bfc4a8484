import type { JsonObject } from "../lib/json.ts";
import type { AgentAddress } from "./address.ts";
import { ClientError } from "./errors.ts";
import { findJson, type HttpAccess, notFromAgent, readText, sendRequest, toHttpError } from "./http.ts";
import { CLIENT_BINDINGS, type ClientBinding, type DialectName, type ProtocolBinding } from "./protocols.ts";
import { asList, asObject, asText, hasMember } from "./read.ts";

export interface FetchedCard {
  readonly url: string;
  readonly card: JsonObject;
}

/** Reads the card from the first URL that has one. */
export async function fetchCard(
  address: AgentAddress,
  access: HttpAccess,
  signal: AbortSignal,
): Promise<FetchedCard> {
  let first: ClientError | undefined;
  for (const url of address.cardUrls) {
    const found = await tryCard(url, access, signal);
    if (!(found instanceof ClientError)) return found;
    first ??= found;
  }
  throw first ?? new ClientError(`No card at ${address.base}`);
}

/** Returns the error of HTTP 404, so that the next URL is tried; throws all others. */
async function tryCard(
  url: string,
  access: HttpAccess,
  signal: AbortSignal,
): Promise<FetchedCard | ClientError> {
  // Servers of several versions respond with the newest card; old servers ignore the header.
  const headers = { accept: "application/json", "a2a-version": "1.0" };
  const response = await sendRequest(access, { method: "GET", url, headers }, signal);
  const text = await readText(url, response);
  if (response.ok) return { url, card: parseCard(url, text) };
  const error = toHttpError(url, response, text);
  if (response.status === 404) return error;
  throw error;
}

function parseCard(url: string, text: string): JsonObject {
  const card = asObject(findJson(text));
  if (asText(card.name) === undefined) throw notFromAgent(`${url} is not an agent card`, text);
  return card;
}

export interface AgentEndpoint extends ClientBinding {
  readonly url: string;
  readonly tenant?: string;
}

/** One interface of an agent, from a card of any version. */
export interface AgentInterface {
  readonly url: string;
  readonly binding: string;
  readonly version: string;
  readonly tenant?: string;
  /** Set where the version does not determine the dialect. */
  readonly dialect?: DialectName;
}

/** The interfaces of a card in its order of preference, including those in the members of v0.3. */
export function readInterfaces({ card, url }: FetchedCard): readonly AgentInterface[] {
  const modern = asList(card.supportedInterfaces).map(asObject).map(toInterface);
  const legacy = asText(card.url) === undefined ? [] : readLegacyInterfaces(card, url);
  return [...modern, ...legacy, ...readSimpleInterfaces(card)];
}

function toInterface(one: JsonObject): AgentInterface {
  const tenant = asText(one.tenant);
  return {
    url: asText(one.url) ?? "",
    binding: asText(one.protocolBinding) ?? "",
    version: asText(one.protocolVersion) ?? "",
    ...(tenant && { tenant }),
  };
}

function readLegacyInterfaces(card: JsonObject, cardUrl: string): readonly AgentInterface[] {
  const version = asText(card.protocolVersion) ?? (isBeforeV02(card) ? "0.1" : "0.2");
  const vendor = vendorOf(asText(card.url) ?? "", version, cardUrl);
  const named = vendor === undefined ? {} : { dialect: vendor };
  const main = {
    url: asText(card.url) ?? "",
    binding: asText(card.preferredTransport) ?? "JSONRPC",
    version,
    ...named,
  };
  const others = asList(card.additionalInterfaces)
    .map(asObject)
    .map(one => ({ url: asText(one.url) ?? "", binding: asText(one.transport) ?? "", version, ...named }));
  return [main, ...others.filter(one => one.url !== main.url || one.binding !== main.binding)];
}

const ORLOJ_PATH = /\/v1\/(agent-systems|agents)\/[^/]+\/a2a\/?$/;
const ARBITER_PATH = /\/v1\/a2a\/agents\/[^/]+\/?$/;
/** Assistants have UUIDs; other servers have names in such paths. */
const LANGGRAPH_PATH = /\/a2a\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\/?$/i;

/** Vendors whose cards have the members of an official version, but whose servers differ from it. */
function vendorOf(url: string, version: string, cardUrl: string): DialectName | undefined {
  const path = URL.parse(url, cardUrl || undefined)?.pathname ?? "";
  if (ORLOJ_PATH.test(path)) return "orloj";
  // Agents that claim 1.x without `supportedInterfaces` use the methods of v0.3.
  if (ARBITER_PATH.test(path) || version.startsWith("1")) return "arbiter";
  const isLangGraph = LANGGRAPH_PATH.test(path) || URL.parse(cardUrl)?.searchParams.has("assistant_id");
  return isLangGraph ? "langgraph" : undefined;
}

/** Cards had no version; before v0.2 the security schemes were called `authentication`. */
const isBeforeV02 = (card: JsonObject): boolean =>
  hasMember(card, "authentication") && !hasMember(card, "securitySchemes");

/** simple_a2a has its own list, `interfaces`. */
const readSimpleInterfaces = (card: JsonObject): readonly AgentInterface[] =>
  asList(card.interfaces)
    .map(asObject)
    .filter(one => one.type === "json-rpc")
    .map(one => ({
      url: asText(one.url) ?? "",
      binding: "JSONRPC",
      version: asText(one.version) ?? "",
      dialect: "simple",
    }));

/** The versions that have a dialect of their name. */
const VERSION = /^(1|0\.[123])(?:\.|$)/;

export function dialectOf({ dialect, version }: AgentInterface): DialectName | undefined {
  const known = VERSION.exec(version)?.[1];
  return dialect ?? (known === undefined ? known : (`v${known}` as DialectName));
}

/** The preferred interface that this client supports. `transports`: the available ones. */
export function chooseEndpoint(found: FetchedCard, transports: readonly ProtocolBinding[]): AgentEndpoint {
  const interfaces = readInterfaces(found);
  for (const [name, bindings] of Object.entries(CLIENT_BINDINGS))
    for (const { dialect, transport } of bindings as readonly ClientBinding[]) {
      const iface = interfaces.find(one => one.binding === transport && dialectOf(one) === name);
      if (iface && transports.includes(transport))
        return toEndpoint(iface, { dialect, transport }, found.url);
    }
  throw noUsableInterface(found, transports);
}

export function toEndpoint(iface: AgentInterface, protocol: ClientBinding, cardUrl: string): AgentEndpoint {
  const tenant = iface.tenant && { tenant: iface.tenant };
  if (protocol.transport === "GRPC") return { ...protocol, url: withScheme(iface.url, cardUrl), ...tenant };
  const url = URL.parse(iface.url, cardUrl || undefined);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new ClientError(
      `The card at ${cardUrl} has the interface URL "${iface.url}", which is not an HTTP URL`,
    );
  return { ...protocol, url: url.href, ...tenant };
}

/** `host:port` uses TLS if the card was read over TLS. */
const withScheme = (address: string, cardUrl: string): string =>
  address.includes("://") ? address : `${URL.parse(cardUrl)?.protocol ?? "https:"}//${address}`;

function noUsableInterface(found: FetchedCard, transports: readonly ProtocolBinding[]): ClientError {
  const offered = readInterfaces(found).map(iface => `${iface.binding} ${iface.version}`.trim());
  const supported = [...transports, "A2A up to 1.0"].join(", ");
  return notUsable(
    `The agent at ${found.url} offers ${offered.join(", ") || "no interface"}; this client supports ${supported}`,
  );
}

/** The client has not the protocol, or not the transport, of the agent. */
export const notUsable = (message: string): ClientError =>
  new ClientError(message, undefined, undefined, "version-not-supported");
