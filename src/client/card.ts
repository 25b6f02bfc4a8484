import type { Json, JsonObject } from "../lib/json.ts";
import type { Target } from "./address.ts";
import { excerpt, Trouble } from "./errors.ts";
import { type Access, httpTrouble, readText, request } from "./http.ts";
import { type DialectName, TONGUES, type Tongue, type TransportName } from "./protocols.ts";
import { asList, asObject, asText, has } from "./read.ts";

export interface FoundCard {
  readonly url: string;
  readonly card: JsonObject;
}

/** Reads the card from the first place that has one. */
export async function fetchCard(target: Target, access: Access, signal: AbortSignal): Promise<FoundCard> {
  let first: Trouble | undefined;
  for (const url of target.cardUrls) {
    const found = await tryCard(url, access, signal);
    if (!(found instanceof Trouble)) return found;
    first ??= found;
  }
  throw first ?? new Trouble(`No card at ${target.base}`);
}

/** The card, or why it is not there; only "not there" leads on to the next place. */
async function tryCard(url: string, access: Access, signal: AbortSignal): Promise<FoundCard | Trouble> {
  // Old servers do not know the header; those that speak several versions show the newest card.
  const headers = { accept: "application/json", "a2a-version": "1.0" };
  const response = await request(access, { verb: "GET", url, headers }, signal);
  const text = await readText(url, response);
  if (response.ok) return { url, card: parseCard(url, text) };
  const trouble = httpTrouble(url, response, text);
  if (response.status === 404) return trouble;
  throw trouble;
}

function parseCard(url: string, text: string): JsonObject {
  try {
    const card = asObject(JSON.parse(text) as Json);
    if (asText(card.name) !== undefined) return card;
  } catch {}
  throw new Trouble(`${url} is no agent card: "${excerpt(text)}". Is this the address of an A2A agent?`);
}

export interface Endpoint extends Tongue {
  readonly url: string;
  readonly tenant?: string;
}

/** One way to reach an agent, as a card of any version names it. */
export interface Offer {
  readonly url: string;
  readonly binding: string;
  readonly version: string;
  readonly tenant?: string;
  /** What is meant, where the version does not tell. */
  readonly dialect?: DialectName;
}

/** All offers of a card, in its order of preference; v0.3 members count too, so that hybrid cards are read whole. */
export function offersOf(card: JsonObject): readonly Offer[] {
  const modern = asList(card.supportedInterfaces).map(asObject).map(toOffer);
  const legacy = asText(card.url) === undefined ? [] : legacyOffers(card);
  return [...modern, ...legacy, ...simpleOffers(card)];
}

function toOffer(one: JsonObject): Offer {
  const tenant = asText(one.tenant);
  return {
    url: asText(one.url) ?? "",
    binding: asText(one.protocolBinding) ?? "",
    version: asText(one.protocolVersion) ?? "",
    ...(tenant && { tenant }),
  };
}

function legacyOffers(card: JsonObject): readonly Offer[] {
  const version = asText(card.protocolVersion) ?? (isOldest(card) ? "0.1" : "0.2");
  // Who calls itself newer and has no interfaces speaks as v0.3 does all the same.
  const named = version.startsWith("1") ? { dialect: "arbiter" as const } : {};
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

/** Cards told no version then. How callers say who they are was called otherwise before v0.2. */
const isOldest = (card: JsonObject): boolean => has(card, "authentication") && !has(card, "securitySchemes");

/** simple_a2a has a list of its own. */
const simpleOffers = (card: JsonObject): readonly Offer[] =>
  asList(card.interfaces)
    .map(asObject)
    .filter(one => one.type === "json-rpc")
    .map(one => ({
      url: asText(one.url) ?? "",
      binding: "JSONRPC",
      version: asText(one.version) ?? "",
      dialect: "simple",
    }));

/** Which versions each of our dialects can talk to, best first. */
const VERSIONS: readonly (readonly [DialectName, RegExp])[] = [
  ["v1", /^1(\.|$)/],
  ["v0.3", /^0\.3(\.|$)/],
  ["v0.2", /^0\.2(\.|$)/],
  ["v0.1", /^0\.1(\.|$)/],
];

export const dialectOf = (offer: Offer): DialectName | undefined =>
  offer.dialect ?? VERSIONS.find(([, version]) => version.test(offer.version))?.[0];

/** How the agent is best talked to. `transports`: those that can be used from here. */
export function chooseEndpoint(found: FoundCard, transports: readonly TransportName[]): Endpoint {
  const offers = offersOf(found.card);
  for (const [name, tongues] of Object.entries(TONGUES))
    for (const { dialect, transport } of tongues as readonly Tongue[]) {
      const offer = offers.find(one => one.binding === transport && dialectOf(one) === name);
      if (offer && transports.includes(transport))
        return toEndpoint(offer, { dialect, transport }, found.url);
    }
  throw noOffer(found, transports);
}

export function toEndpoint(offer: Offer, tongue: Tongue, cardUrl: string): Endpoint {
  const tenant = offer.tenant && { tenant: offer.tenant };
  if (tongue.transport === "GRPC") return { ...tongue, url: withScheme(offer.url, cardUrl), ...tenant };
  const url = URL.parse(offer.url, cardUrl || undefined);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Trouble(`The card at ${cardUrl} names "${offer.url}" for calls, which is no HTTP address`);
  return { ...tongue, url: url.href, ...tenant };
}

/** A host and a port are as safe as the place where they were read. */
const withScheme = (address: string, cardUrl: string): string =>
  address.includes("://") ? address : `${URL.parse(cardUrl)?.protocol ?? "https:"}//${address}`;

function noOffer(found: FoundCard, transports: readonly TransportName[]): Trouble {
  const offered = offersOf(found.card).map(offer => `${offer.binding} ${offer.version}`.trim());
  return new Trouble(
    `The agent at ${found.url} cannot be called from here: it offers ${offered.join(", ") || "nothing"}, ` +
      `and this client speaks ${transports.join(", ")} of A2A 1.0 and 0.3, and JSONRPC of older ones`,
  );
}
