import { defined, type Json, type JsonObject } from "../../lib/json.ts";
import { LIMITS, type NewPushConfig, type PushAuthentication, type PushConfig } from "../../model/index.ts";
import type { WireCall } from "../../ports/index.ts";
import {
  getMember,
  hasControlCharacters,
  invalidField,
  joinPath,
  readId,
  readInteger,
  readObject,
  readString,
  readStrings,
} from "./fields.ts";

/** Push configs of the official versions: v1.0 has one authentication scheme, older versions a list. */

/** The id of a config without an id, in protocols before v1.0: the next one without an id replaces it. */
export const DEFAULT_CONFIG_ID = "default";

/** `origin`: the dialect of the request; `urlMember`: the member with the URL. */
export function decodePushConfig(
  call: WireCall,
  from: JsonObject,
  path: string,
  origin: string,
  urlMember = "url",
): NewPushConfig {
  return defined<NewPushConfig>({
    id: readId(from, "id", path),
    url: readUrl(from, urlMember, path),
    origin,
    events: readEvents(call, from, path),
    token: readSecret(from, "token", path),
    authentication: readAuthentication(from, path),
    secret: readSecret(from, "secret", path),
  });
}

/** The syntax only: whether the address may be called is checked at delivery. */
function readUrl(from: JsonObject, name: string, path: string): string {
  const text = readString(from, name, path);
  const field = joinPath(path, name);
  if (!text) throw invalidField(field, "is required and must be the URL of a webhook");
  if (text.length > LIMITS.pushUrlCharsMax)
    throw invalidField(field, `must have at most ${LIMITS.pushUrlCharsMax} characters`);
  // URL.parse silently removes line breaks.
  const url = hasControlCharacters(text) ? null : URL.parse(text);
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    throw invalidField(field, "must be an absolute URL that begins with https:// or http://");
  if (url.username !== "" || url.password !== "")
    throw invalidField(field, "must not contain a user or a password; use authentication instead");
  return text;
}

/** The characters that are safe in a header value. */
const PRINTABLE = /^[\x20-\x7e]*$/;

/** A token, credentials or a shared secret. Empty is absent. */
export function readSecret(from: JsonObject, name: string, path: string): string | undefined {
  const text = readString(from, name, path);
  if (text === undefined || text === "") return undefined;
  if (text.length > LIMITS.pushSecretCharsMax)
    throw invalidField(joinPath(path, name), `must have at most ${LIMITS.pushSecretCharsMax} characters`);
  if (!PRINTABLE.test(text))
    throw invalidField(joinPath(path, name), "must consist of printable ASCII characters");
  return text;
}

function readAuthentication(from: JsonObject, path: string): PushAuthentication | undefined {
  const authentication = readObject(from, "authentication", path);
  if (!authentication) return undefined;
  const field = joinPath(path, "authentication");
  const schemes = readSchemes(authentication, field);
  const credentials = readSecret(authentication, "credentials", field);
  if (schemes.length === 0 && credentials !== undefined)
    throw invalidField(field, "must name the scheme of the credentials, such as Bearer");
  return schemes.length === 0 ? undefined : defined<PushAuthentication>({ schemes, credentials });
}

function readSchemes(from: JsonObject, path: string): readonly string[] {
  const scheme = readString(from, "scheme", path);
  const schemes = readStrings(from, "schemes", path) ?? (scheme ? [scheme] : []);
  const field = joinPath(path, scheme ? "scheme" : "schemes");
  return schemes.map(one => requireToken(one, field));
}

/** RFC 9110 §5.6.2: names of schemes and headers. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

export function requireToken(text: string, field: string): string {
  if (TOKEN.test(text)) return text;
  throw invalidField(field, "must be a token of at most 64 letters, digits and characters such as -");
}

const EVENTS = ["all", "status"] as const;
/** For clients that cannot send members beyond the protocol. */
const EVENTS_HEADER = "Dragoman-Push-Events";

/** D7: a config may select status changes only. */
function readEvents(call: WireCall, from: JsonObject, path: string): PushConfig["events"] {
  const member = getMember(from, "events");
  const value = member ?? call.headers[EVENTS_HEADER.toLowerCase()] ?? "all";
  const events = EVENTS.find(one => one === value);
  if (events) return events;
  throw invalidField(
    member === undefined ? EVENTS_HEADER : joinPath(path, "events"),
    'must be "all" or "status"',
  );
}

/** ProtoJSON: 0 is the same as absent. */
export function readPaging(params: JsonObject): { readonly pageSize?: number; readonly pageToken?: string } {
  return defined({
    pageSize: readInteger(params, "pageSize", "", { min: 0, max: LIMITS.pageSizeMax }) || undefined,
    pageToken: readString(params, "pageToken", "") || undefined,
  });
}

/** The shape of all versions before 1.0. */
export function encodePushConfig(config: PushConfig): JsonObject {
  const { url, token, authentication } = config;
  return defined<JsonObject>({
    url,
    token,
    authentication: authentication && encodeAuthentication(authentication),
    ...encodePushExtras(config),
  });
}

const encodeAuthentication = ({ schemes, credentials }: PushAuthentication): JsonObject =>
  defined<JsonObject>({ schemes, credentials });

/** The members beyond the protocol, if they are set. */
export const encodePushExtras = ({
  events,
  secret,
}: PushConfig): Readonly<Record<string, Json | undefined>> => ({
  events: events === "all" ? undefined : events,
  secret,
});
