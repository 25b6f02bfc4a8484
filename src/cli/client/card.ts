import type { Json, JsonObject } from "../../model/index.ts";
import { excerpt, Trouble } from "../trouble.ts";
import type { ClientDialect } from "./dialect.ts";
import { asList, asObject, asText } from "./read.ts";
import { httpTrouble, type Link, readText, request } from "./rpc.ts";
import type { Target } from "./target.ts";
import { v1 } from "./v1.ts";
import { v03 } from "./v03.ts";

export interface FoundCard {
  readonly url: string;
  readonly card: JsonObject;
}

/** Reads the card from the first place that has one. */
export async function fetchCard(
  target: Target,
  link: Omit<Link, "url">,
  signal: AbortSignal,
): Promise<FoundCard> {
  let first: Trouble | undefined;
  for (const url of target.cardUrls) {
    const found = await tryCard(url, link, signal);
    if (!(found instanceof Trouble)) return found;
    first ??= found;
  }
  throw first ?? new Trouble(`No card at ${target.base}`);
}

/** The card, or why it is not there; only "not there" leads on to the next place. */
async function tryCard(
  url: string,
  link: Omit<Link, "url">,
  signal: AbortSignal,
): Promise<FoundCard | Trouble> {
  // Old servers do not know the header; those that speak several versions show the newest card.
  const headers = { accept: "application/json", "a2a-version": v1.version, ...link.headers };
  const response = await request(link.fetch, url, { headers, signal });
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

export interface Endpoint {
  readonly url: string;
  readonly dialect: ClientDialect;
  readonly tenant?: string;
}

/** One way to reach an agent, as a card of any version names it. */
export interface Offer {
  readonly url: string;
  readonly binding: string;
  readonly version: string;
  readonly tenant?: string;
}

/** All offers of a card, in its order of preference; v0.3 members count too, so that hybrid cards are read whole. */
export function offersOf(card: JsonObject): readonly Offer[] {
  const modern = asList(card.supportedInterfaces).map(asObject).map(toOffer);
  const legacy = asText(card.url) === undefined ? [] : legacyOffers(card);
  return [...modern, ...legacy];
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
  const version = asText(card.protocolVersion) ?? "0.2";
  const main = {
    url: asText(card.url) ?? "",
    binding: asText(card.preferredTransport) ?? "JSONRPC",
    version,
  };
  const others = asList(card.additionalInterfaces)
    .map(asObject)
    .map(one => ({ url: asText(one.url) ?? "", binding: asText(one.transport) ?? "", version }));
  return [main, ...others.filter(one => one.url !== main.url || one.binding !== main.binding)];
}

/** Which versions each of our dialects can talk to, best first. v0.2 is close enough to v0.3. */
const SPOKEN: readonly { readonly dialect: ClientDialect; readonly version: RegExp }[] = [
  { dialect: v1, version: /^1(\.|$)/ },
  { dialect: v03, version: /^0\.[23](\.|$)/ },
];

export function chooseEndpoint(found: FoundCard): Endpoint {
  const offers = offersOf(found.card).filter(offer => offer.binding === "JSONRPC");
  for (const { dialect, version } of SPOKEN) {
    const offer = offers.find(one => version.test(one.version));
    if (offer) return toEndpoint(offer, dialect, found.url);
  }
  throw noOffer(found);
}

function toEndpoint(offer: Offer, dialect: ClientDialect, cardUrl: string): Endpoint {
  const url = URL.parse(offer.url, cardUrl);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Trouble(`The card at ${cardUrl} names "${offer.url}" for calls, which is no HTTP address`);
  return { url: url.href, dialect, ...(offer.tenant && { tenant: offer.tenant }) };
}

function noOffer(found: FoundCard): Trouble {
  const offered = offersOf(found.card).map(offer => `${offer.binding} ${offer.version}`);
  return new Trouble(
    `The agent at ${found.url} cannot be called from here: it offers ${offered.join(", ") || "nothing"}, ` +
      "and this client speaks JSONRPC 1.0 and 0.3",
  );
}
